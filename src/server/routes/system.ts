/** The daemon about itself. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppOptions } from '../base/app-options.ts'
import { failure, Health, json, Status } from '../base/schemas.ts'

const health = createRoute({
  method: 'get',
  path: '/api/health',
  summary: 'Whether the daemon is there; needs no token',
  security: [],
  responses: { 200: json('It is', Health) },
})

const status = createRoute({
  method: 'get',
  path: '/api/status',
  summary: 'What the daemon is doing',
  responses: { 200: json('Status', Status), default: failure },
})

const shutdown = createRoute({
  method: 'post',
  path: '/api/shutdown',
  summary: 'Ends the daemon; agents go on and are taken over by the next one',
  responses: { 202: json('It will', z.object({ pid: z.number().int() })), default: failure },
})

export function addSystemRoutes(app: OpenAPIHono, options: AppOptions): void {
  const { version, pid, startedAt, home, url, simulatorUrl, engine } = options
  const self = { status: 'ok' as const, version, pid, startedAt }

  app.openapi(health, (c) => c.json(self, 200))

  app.openapi(status, async (c) =>
    c.json(
      {
        ...self,
        home,
        url: url(),
        simulator: simulatorUrl,
        runs: await engine.countRuns(),
        memoryBytes: process.memoryUsage.rss(),
        cannotStore: engine.findStorageFailure(),
        quarantined: await engine.listQuarantined(),
        ...(await engine.describeObstacles()),
      },
      200,
    ),
  )

  app.openapi(shutdown, (c) => {
    // After this answer is handed to the socket; closing the server then waits for it to be sent.
    setImmediate(options.onShutdown)
    return c.json({ pid }, 202)
  })
}
