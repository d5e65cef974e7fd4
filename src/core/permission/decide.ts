/**
 * Decides who answers when the agent wants to use a tool. A question to the user always waits for a person, because no
 * permission mode can answer it.
 */

import type { PermissionMode } from '../../contract/create-run.ts'
import type { EventOf } from '../../contract/events.ts'

export type Ask = EventOf<'permission-ask'> | EventOf<'question-ask'>

export type AskDecision = { kind: 'allow'; reason: string } | { kind: 'wait' }

export function decideAsk(mode: PermissionMode, ask: Ask): AskDecision {
  if (ask.type === 'question-ask') return { kind: 'wait' }
  return mode === 'allow' ? { kind: 'allow', reason: 'permissions: allow' } : { kind: 'wait' }
}
