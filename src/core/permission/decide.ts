/**
 * Decides who answers when the agent wants to use a tool. A question to the user always waits for a person, because no
 * permission mode can answer it. A permission that a person gave for the whole session ("always allow") answers
 * requests that it covers: the same command, or the same tool if it is no shell.
 */

import type { PermissionMode } from '../../contract/create-run.ts'
import type { EventOf } from '../../contract/events.ts'

export type Ask = EventOf<'permission-ask'> | EventOf<'question-ask'>

export type AskDecision = { kind: 'allow'; reason: string } | { kind: 'wait' }

/** A permission for the rest of the session. */
export interface Grant {
  tool: string
  /** The command that is allowed; null: every call of the tool. */
  command: string | null
}

export function decideAsk(mode: PermissionMode, ask: Ask, grants: readonly Grant[] = []): AskDecision {
  if (ask.type === 'question-ask') return { kind: 'wait' }
  if (mode === 'allow') return { kind: 'allow', reason: 'permissions: allow' }
  const wanted = grantFor(ask)
  const granted =
    wanted && grants.some(({ tool, command }) => tool === wanted.tool && command === wanted.command)
  return granted ? { kind: 'allow', reason: `always allowed: ${grantText(wanted)}` } : { kind: 'wait' }
}

/** What "always allow" would cover; null if the request cannot be allowed in advance. */
export function grantFor(ask: Ask): Grant | null {
  if (ask.type === 'question-ask') return null
  const { tool, kind, command } = ask
  // Without a description the tool may be a shell.
  if (kind === undefined) return null
  if (kind !== 'shell') return { tool, command: null }
  return command === undefined ? null : { tool, command }
}

export const grantText = ({ tool, command }: Grant) =>
  command === null ? `every ${tool} in this session` : 'this command in this session'
