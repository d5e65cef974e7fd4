/** The public interface of messages for agents that are at work. */
import type { RunId } from '../../contract/ids.ts'
import type { RunMessage, Say } from '../../contract/run-message.ts'

export interface MessageEngine {
  /** Stores the message; the agent gets it at the next opportunity. A run that can take none any more is an error. */
  say: (id: RunId, message: Say, idempotencyKey: string | null) => Promise<RunMessage>
  /** Oldest first. */
  listMessages: (id: RunId) => Promise<RunMessage[]>
}
