/**
 * Where other systems send what happened. They are given the secret of one watch and not the daemon's token, so this
 * path checks its senders itself (hook-auth.ts). It needs the body for that, and therefore reads it as it came.
 *
 * Whoever cannot show that they may send is told the same, whether there is such a watch or not.
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { RepriseError } from '../../contract/errors.ts'
import type { WatchEngine } from '../../engine/watches/api.ts'
import { checkHook } from '../base/hook-auth.ts'
import { failure, HookPath, json, Triggered } from '../base/schemas.ts'
import { isNews } from '../base/triggered.ts'

const SIGNATURE = 'x-hub-signature-256'

/** Without anything shown there is nothing to check, and no reason to read the body. */
export const refuseUnnamed: MiddlewareHandler = async (c, next) => {
  if (!c.req.header('authorization') && !c.req.header(SIGNATURE)) throw unauthorized(c, 'missing')
  await next()
}

const hook = createRoute({
  method: 'post',
  path: '/api/hooks/{watch}',
  summary: 'Tells a watch what happened elsewhere',
  description:
    "Takes what Prometheus Alertmanager sends as it is, and any other JSON. The same event makes one cycle, however often it is sent. Shown must be the daemon's token, or the watch's own secret: as a bearer token, as the password of basic authentication, or in X-Hub-Signature-256 as a signature of the body.",
  security: [{ token: [] }, { hookSecret: [] }, { hookPassword: [] }, { hookSignature: [] }],
  request: { params: HookPath },
  // Not under `request`: it is checked only once it is known who sends it, and whatever its type is said to be.
  requestBody: {
    required: true,
    content: { 'application/json': { schema: { description: "Alertmanager's payload, or any JSON" } } },
  },
  responses: {
    202: json('A cycle was made, or one that waits takes this along', Triggered),
    200: json('Known already, or over', Triggered),
    429: { ...failure, headers: z.object({ 'Retry-After': z.string() }) },
    default: failure,
  },
})

/** Whether the general check of the token leaves the request to this route. */
export function checksItsOwnSenders({ method, path }: { method: string; path: string }): boolean {
  return method === 'POST' && /^\/api\/hooks\/[^/]+$/.test(path)
}

export function addHookRoute(
  app: OpenAPIHono,
  { engine, token }: { engine: WatchEngine; token: string },
): void {
  const scheme = (name: string, value: Parameters<typeof app.openAPIRegistry.registerComponent>[2]) =>
    app.openAPIRegistry.registerComponent('securitySchemes', name, value)
  scheme('hookSecret', { type: 'http', scheme: 'bearer' })
  scheme('hookPassword', { type: 'http', scheme: 'basic' })
  scheme('hookSignature', { type: 'apiKey', in: 'header', name: SIGNATURE })

  app.openapi(hook, async (c) => {
    const { watch } = c.req.valid('param')
    const body = new Uint8Array(await c.req.arrayBuffer())
    const secret = await readSecret(engine, watch)
    const shown = checkHook({
      secret: secret ?? null,
      token,
      authorization: c.req.header('authorization') ?? null,
      signature: c.req.header(SIGNATURE) ?? null,
      body,
    })
    if (shown !== 'ok') throw unauthorized(c, shown)
    const triggered = await engine.receiveEvents(watch, parseJson(body))
    return isNews(triggered) ? c.json(triggered, 202) : c.json(triggered, 200)
  })
}

/** undefined: there is no such watch, which the engine says to those who may know. */
async function readSecret(engine: WatchEngine, watch: string): Promise<string | null | undefined> {
  try {
    return await engine.readHookSecret(watch)
  } catch (error) {
    if (error instanceof RepriseError && error.code === 'not-found') return undefined
    throw error
  }
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new RepriseError('bad-request', 'body: expected valid JSON', {
      hint: 'Send what Alertmanager sends, or any other JSON document.',
    })
  }
}

function unauthorized(c: Context, shown: 'missing' | 'wrong'): RepriseError {
  c.header('WWW-Authenticate', 'Bearer realm="reprise"')
  return new RepriseError(
    'unauthorized',
    shown === 'missing' ? 'the secret is missing' : 'the secret is wrong, or there is no such watch',
    {
      hint: "Send the watch's hookSecret: as bearer token, as password of basic authentication, or sign the body with it (X-Hub-Signature-256).",
    },
  )
}
