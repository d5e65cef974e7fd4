/** Texts about sessions that several subcommands share. */
import type { Session, SessionDetail } from '../../contract/session.ts'
import { formatCost, formatTokens } from '../terminal/amounts.ts'

export function contextText({
  contextTokens,
  contextWindow,
}: Pick<Session, 'contextTokens' | 'contextWindow'>): string {
  if (contextTokens === null) return '–'
  const share = contextWindow ? ` (${Math.round((contextTokens / contextWindow) * 100)} %)` : ''
  return `${formatTokens(contextTokens)}${share}`
}

export function copyText(origin: SessionDetail['copiedFrom']): string {
  if (origin === null) return '–'
  const from = origin.session ?? `session ${origin.agentSessionId} of another home`
  const cost = origin.costUsd === null ? '' : `, which had cost ${formatCost(origin.costUsd)} by then`
  return `${origin.kind} of ${from}${cost}`
}
