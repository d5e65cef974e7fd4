/** The HTTP surface: guards first, then the routes, and one place where errors become answers. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppOptions } from './base/app-options.ts'
import { badInput } from './base/bad-input.ts'
import { limitBody } from './base/body-limit.ts'
import { answerError, answerUnknownRoute } from './base/error-response.ts'
import { guardHost, guardOrigin, guardToken } from './base/guards.ts'
import { addAgentRoutes } from './routes/agents.ts'
import { addCheckpointRoutes } from './routes/checkpoints.ts'
import { addConversationRoutes } from './routes/conversations.ts'
import { addCycleRoutes } from './routes/cycles.ts'
import { addEscalationRoutes } from './routes/escalation.ts'
import { addEventRoutes } from './routes/events.ts'
import { addFollowUpRoutes } from './routes/follow-ups.ts'
import { addHookRoute, checksItsOwnSenders, refuseUnnamed } from './routes/hooks.ts'
import { addJobRoutes } from './routes/jobs.ts'
import { addMessageRoutes } from './routes/messages.ts'
import { addOpenApiRoute } from './routes/openapi.ts'
import { addRunRoutes } from './routes/runs.ts'
import { addSessionRoutes } from './routes/sessions.ts'
import { addStatsRoute } from './routes/stats.ts'
import { addSystemRoutes } from './routes/system.ts'
import { addTurnRoutes } from './routes/turns.ts'
import { addWatchRoutes } from './routes/watches.ts'

export interface App {
  fetch: OpenAPIHono['fetch']
  /** Ends the event streams that are open; their readers come back to whoever listens next. */
  endStreams: () => void
}

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
  app.use(
    guardToken(options.token, (request) => request.path === '/api/health' || checksItsOwnSenders(request)),
  )
  // Before the general limit, which would read on.
  app.use('/api/hooks/:watch', refuseUnnamed, limitBody('event'))
  app.use('/api/watches/:id/trigger', limitBody('event'))
  app.use(limitBody('general'))

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
  addWatchRoutes(app, options.engine)
  addHookRoute(app, options)
  addCycleRoutes(app, options.engine)
  addFollowUpRoutes(app, options.engine)
  addConversationRoutes(app, options.engine)
  addTurnRoutes(app, options.engine)
  addMessageRoutes(app, options.engine)
  addSessionRoutes(app, options.engine)
  addAgentRoutes(app, options.engine)
  addStatsRoute(app, options.engine)
  addOpenApiRoute(app, options.version)

  return { fetch: app.fetch, endStreams: () => streams.abort() }
}
