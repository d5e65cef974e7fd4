/** Texts about sessions that several subcommands share. */
import type { Session } from '../../contract/session.ts'
import { formatTokens } from '../terminal/amounts.ts'

export function contextText({
  contextTokens,
  contextWindow,
}: Pick<Session, 'contextTokens' | 'contextWindow'>): string {
  if (contextTokens === null) return '–'
  const share = contextWindow ? ` (${Math.round((contextTokens / contextWindow) * 100)} %)` : ''
  return `${formatTokens(contextTokens)}${share}`
}
