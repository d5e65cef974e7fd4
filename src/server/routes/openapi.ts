/** The description of all routes, from the schemas that check them. Built when first asked for: it takes a while. */
import type { OpenAPIHono } from '@hono/zod-openapi'

export function addOpenApiRoute(app: OpenAPIHono, version: string): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  let document: unknown
  app.get('/api/openapi.json', (c) => {
    document ??= app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Reprise', version },
      security: [{ token: [] }],
    })
    return c.json(document as object)
  })
}
