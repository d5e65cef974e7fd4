/** The names of the contract that programs use: errors, and the types of what calls take and return. */
export type { AdoptSessions, FoundSession } from './adopt.ts'
export type { Agent } from './agent.ts'
export type { Chain } from './chain.ts'
export type { Change, Reload } from './change.ts'
export type {
  Conversation,
  ConversationDetail,
  CreateConversation,
  CreateTurn,
  Message,
} from './conversation.ts'
export type { CreateJob } from './create-job.ts'
export type { CreateRun, PermissionMode } from './create-run.ts'
export type { Cycle, CycleDetail } from './cycle.ts'
export { type ErrorCode, RepriseError } from './errors.ts'
export type { EventOf, EventType, RunEvent } from './events.ts'
export type { CreateFollowUp, FollowUp } from './follow-up.ts'
export type { Page, Status } from './http.ts'
export type { Job, JobDetail, JobState } from './job.ts'
export type { Outcome, Usage } from './outcome.ts'
export type { ToolResult } from './question.ts'
export type { Attempt, Run, RunDetail } from './run.ts'
export type { Session, SessionDetail } from './session.ts'
export type { Stats } from './stats.ts'
export type { CreateWatch, Watch } from './watch.ts'
