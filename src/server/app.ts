/** The HTTP surface: guards first, then the routes, and one place where errors become answers. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { bodyLimit } from 'hono/body-limit'
import { RepriseError } from '../contract/errors.ts'
import type { AppOptions } from './app-options.ts'
import { badInput } from './bad-input.ts'
import { answerError, answerUnknownRoute } from './error-response.ts'
import { guardHost, guardOrigin, guardToken } from './guards.ts'
import { addAgentRoutes } from './routes/agents.ts'
import { addCheckpointRoutes } from './routes/checkpoints.ts'
import { addConversationRoutes } from './routes/conversations.ts'
import { addEscalationRoutes } from './routes/escalation.ts'
import { addEventRoutes } from './routes/events.ts'
import { addJobRoutes } from './routes/jobs.ts'
import { addMessageRoutes } from './routes/messages.ts'
import { addOpenApiRoute } from './routes/openapi.ts'
import { addRunRoutes } from './routes/runs.ts'
import { addSessionRoutes } from './routes/sessions.ts'
import { addStatsRoute } from './routes/stats.ts'
import { addSystemRoutes } from './routes/system.ts'
import { addTurnRoutes } from './routes/turns.ts'

export interface App {
  fetch: OpenAPIHono['fetch']
  /** Ends the event streams that are open; their readers come back to whoever listens next. */
  endStreams: () => void
}

const MAX_BODY_BYTES = 16 * 1024 * 1024
const HEARTBEAT_MS = 15_000

export function createApp(options: AppOptions): App {
  const app = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw badInput(result.target, result.error.issues)
    },
  })
  app.onError(answerError(options.log))
  app.notFound(answerUnknownRoute(() => app.routes))

  app.use(async (c, next) => {
    c.header('X-Content-Type-Options', 'nosniff')
    c.header('Cache-Control', 'no-store')
    c.header('Referrer-Policy', 'no-referrer')
    c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
    await next()
  })
  app.use(guardHost(options.allowedHosts))
  app.use(guardOrigin())
  app.use(guardToken(options.token, (path) => path === '/api/health'))
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (c) => {
        // The rest of the body is never read, so the connection is of no further use.
        c.header('Connection', 'close')
        throw new RepriseError('payload-too-large', 'body: expected at most 16 MiB', {
          hint: 'Put large material into a file in the work directory and name it in the prompt.',
        })
      },
    }),
  )

  const streams = new AbortController()
  addSystemRoutes(app, options)
  addRunRoutes(app, options.engine)
  addEscalationRoutes(app, options.engine)
  addEventRoutes(app, options.engine, {
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    signal: streams.signal,
  })
  addJobRoutes(app, options.engine)
  addCheckpointRoutes(app, options.engine)
  addConversationRoutes(app, options.engine)
  addTurnRoutes(app, options.engine)
  addMessageRoutes(app, options.engine)
  addSessionRoutes(app, options.engine)
  addAgentRoutes(app, options.engine)
  addStatsRoute(app, options.engine)
  addOpenApiRoute(app, options.version)

  return { fetch: app.fetch, endStreams: () => streams.abort() }
}
