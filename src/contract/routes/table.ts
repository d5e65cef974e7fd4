/** The table of all routes: what each operation takes and returns, and how it can fail. */
import { accessRoutes } from './access.ts'
import { changeRoutes } from './changes.ts'
import { conversationRoutes } from './conversations.ts'
import { escalationRoutes } from './escalation.ts'
import { followUpRoutes } from './follow-ups.ts'
import { jobRoutes } from './jobs.ts'
import { overviewRoutes } from './overview.ts'
import type { RouteTable } from './route.ts'
import { runRoutes } from './runs.ts'
import { sessionRoutes } from './sessions.ts'
import { systemRoutes } from './system.ts'
import { transferRoutes } from './transfers.ts'
import { trustRoutes } from './trust.ts'
import { watchRoutes } from './watches.ts'

export const ROUTES = {
  ...systemRoutes,
  ...overviewRoutes,
  ...changeRoutes,
  ...runRoutes,
  ...escalationRoutes,
  ...conversationRoutes,
  ...jobRoutes,
  ...watchRoutes,
  ...followUpRoutes,
  ...sessionRoutes,
  ...accessRoutes,
  ...transferRoutes,
  ...trustRoutes,
} satisfies RouteTable
