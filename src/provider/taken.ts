/** Which way a query took: it resumed the session, or it started a new one, and why. */
import type { FreshReason } from '../contract/run.ts'
import type { ProviderMessage } from './message.ts'

export type Taken =
  | { way: 'resumed'; sessionId: string }
  | { way: 'fresh'; sessionId: string; reason: WhyFresh; message: string }

/** `unknown-session`: Reprise knows no such session. `in-conversation`: the session belongs to a conversation. */
export type WhyFresh = FreshReason | 'unknown-session' | 'in-conversation' | 'no-history' | 'new'

/** The messages of one query. It starts when it is first asked for one. */
export interface QueryMessages<Message = ProviderMessage> extends AsyncGenerator<Message, void, void> {
  /** Which way the query took; null: that is not known yet. It may change if the session turns out to be unusable. */
  readonly taken: Taken | null
}

/** A query that has begun, so that it is known which way it took. */
export interface ResumedMessages<Message = ProviderMessage> extends QueryMessages<Message> {
  readonly taken: Taken
}

const MESSAGES: Readonly<Record<string, string>> = {
  new: 'no session was given',
  'no-history': 'a session is resumed only together with its history, and none was given',
  'unknown-session': 'there is no such session',
  'in-conversation': 'the session belongs to a conversation of Reprise, which continues it',
  refused: 'the agent refused to resume the session',
  expired: 'the session is too old',
  'other-agent': 'the session belongs to another agent',
  'other-work-dir': 'the session was made in another directory',
  'other-runtime': 'the session was made by another installation of the agent',
  'session-in-use': 'another process is using the session',
  'transcript-missing': 'the file of the session is gone',
  'transcript-unreadable': 'the file of the session contains no message',
  'transcript-foreign': 'the file of the session belongs to another session',
  'transcript-behind': 'the file of the session lacks the last answer',
  'transcript-broken': 'messages are missing in the file of the session',
  'transcript-forked': 'the session was continued elsewhere, on another branch',
  'context-full': 'the context window of the session is full',
  poisoned: 'the model does not accept the history of the session',
  'too-many-resumes': 'the session was resumed too often',
}

export const explain = (reason: WhyFresh): string =>
  MESSAGES[reason] ?? `the session is not resumed: ${reason}`
