/** The handlers of all operations of the route table. They know no HTTP, so a program that embeds Reprise calls them, too. */
import type { AppOptions } from './base/app-options.ts'
import type { Handlers } from './base/handler.ts'
import type { StreamOptions } from './base/stream.ts'
import { accessHandlers } from './routes/access.ts'
import { changeHandlers } from './routes/changes.ts'
import { conversationHandlers } from './routes/conversations.ts'
import { escalationHandlers } from './routes/escalation.ts'
import { followUpHandlers } from './routes/follow-ups.ts'
import { hookHandlers } from './routes/hooks.ts'
import { jobHandlers } from './routes/jobs.ts'
import { overviewHandlers } from './routes/overview.ts'
import { runHandlers } from './routes/runs.ts'
import { sessionHandlers } from './routes/sessions.ts'
import { systemHandlers } from './routes/system.ts'
import { transferHandlers } from './routes/transfers.ts'
import { trustHandlers } from './routes/trust.ts'
import { watchHandlers } from './routes/watches.ts'

export function createHandlers(options: AppOptions, streams: StreamOptions): Handlers {
  const { engine, changes } = options
  return {
    ...systemHandlers(options),
    ...changeHandlers(changes, streams),
    ...runHandlers(engine, streams),
    ...escalationHandlers(engine),
    ...conversationHandlers(engine),
    ...jobHandlers(engine, streams),
    ...watchHandlers(engine),
    ...hookHandlers(options),
    ...followUpHandlers(engine),
    ...sessionHandlers(engine),
    ...overviewHandlers(options),
    ...accessHandlers(options),
    ...transferHandlers(engine),
    ...trustHandlers(engine),
  }
}
