/**
 * Chooses the rule that answers a request: the first, in file order, whose conditions all hold and that has firings
 * left.
 *
 * A rule on `user` fires when the user's text starts a turn, not again when the turn's tool results come back; a rule
 * on `tool` or `toolResult` fires on the results, and its `user` then means the text that started the turn.
 */
import type { MessagesRequest } from './messages-request.ts'
import type { Pattern, Rule, Scenario, When } from './scenario-types.ts'

/** The groups that the patterns captured: `$1`… from the numbered groups, `${name}` from the named ones. */
export interface Captures {
  numbered: (string | undefined)[]
  named: Record<string, string>
}

export interface Match {
  rule: Rule
  captures: Captures
}

export function chooseRule(
  scenario: Scenario,
  request: MessagesRequest,
  firedTimes: ReadonlyMap<Rule, number>,
): Match | undefined {
  for (const rule of scenario.rules) {
    if ((firedTimes.get(rule) ?? 0) >= rule.times) continue
    const captures = matchWhen(rule.when, request)
    if (captures) return { rule, captures }
  }
  return undefined
}

export function matchWhen(when: When, request: MessagesRequest): Captures | undefined {
  if (when.kind !== 'any' && when.kind !== request.kind) return undefined
  if (when.session !== undefined && when.session !== request.sessionId) return undefined
  if (when.model && !find(when.model, request.body.model)) return undefined
  if (when.system && !find(when.system, request.systemText)) return undefined
  if (!when.contains.every((pattern) => find(pattern, request.allText))) return undefined
  if (when.lacks.some((pattern) => find(pattern, request.allText))) return undefined

  const captures: Captures = { numbered: [], named: {} }
  const onResults = when.tool !== undefined || when.toolResult !== undefined
  if (onResults) {
    const results = request.toolResults.filter(
      (result) => when.tool === undefined || result.tool === when.tool,
    )
    const found = results
      .map((result) => find(when.toolResult ?? ANYTHING, result.text))
      .find((match) => match !== undefined)
    if (!found) return undefined
    collect(captures, found)
  }
  if (when.user) {
    if (!onResults && !request.startsTurn) return undefined
    const found = find(when.user, request.userText)
    if (!found) return undefined
    collect(captures, found)
  }
  return captures
}

export function contextWindowOf(scenario: Scenario, model: string): number | undefined {
  return scenario.contextWindows.find((entry) => find(entry.model, model))?.tokens
}

const ANYTHING: Pattern = { kind: 'text', text: '' }

function find(pattern: Pattern, text: string): Captures | undefined {
  if (pattern.kind === 'text') return text.includes(pattern.text) ? { numbered: [], named: {} } : undefined
  const match = pattern.regex.exec(text)
  return match ? { numbered: match.slice(1), named: { ...match.groups } } : undefined
}

function collect(into: Captures, found: Captures): void {
  into.numbered.push(...found.numbered)
  Object.assign(into.named, found.named)
}
