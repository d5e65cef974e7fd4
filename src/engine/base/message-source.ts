/** Where messages for the agent of a run come from. */
import type { SessionId } from '../../contract/ids.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'

export interface MessageToGive {
  /** The id by which the agent reports that it took the message; the same one whenever the message is listed. */
  id: string
  text: string
  /** null: the user. */
  from: string | null
}

export interface MessageSource {
  /** Lists the messages that this session has not read yet, oldest first. */
  listUnread: (run: RunRecord, sessionId: SessionId) => Promise<MessageToGive[]>
  /** The agent has read these. Other sources may have given some of them. May be repeated. */
  markRead: (
    attempt: Pick<AttemptRecord, 'id' | 'runId' | 'sessionId'>,
    ids: ReadonlySet<string>,
  ) => Promise<void>
}
