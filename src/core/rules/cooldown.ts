/**
 * Cooldowns: how often something may be done to one service within a time. What a call does is recognised in
 * services.ts; here is what the rules are and whether there is room under them.
 */

import { formatSpan } from '../span.ts'
import { type CommandPattern, compilePattern } from './pattern.ts'

export interface CooldownSettings {
  match: readonly string[]
  limit: number
  /** Milliseconds. */
  per: number
}

/** How often, in which time. */
export interface CooldownLimit {
  name: string
  limit: number
  perMs: number
}

/** `docker restart {service}`: where it names the service. */
export interface ServicePattern {
  pattern: CommandPattern
  /** Which of the operands is `{service}`. */
  place: number
  /** The last word: every further word is a service too. */
  each: boolean
}

export interface CountedPattern extends ServicePattern {
  rule: string
}

/** Cooldown rules, compiled once. */
export interface Cooldowns {
  limits: readonly CooldownLimit[]
  byProgram: ReadonlyMap<string, readonly CountedPattern[]>
}

/** Something that is done to a service. */
export interface Action {
  rule: string
  /** `EVERY` for all there are. */
  service: string
  /** What the service is a part of, so that another of the same name is not meant; null: that is not known. */
  scope: string | null
  command: string
}

export type TakenAction = Pick<Action, 'rule' | 'service' | 'scope'> & { at: Date }

/** The service of an action that is done to all of a scope. */
export const EVERY = '*'

const PLACEHOLDER = '{service}'

export type ServicePatternResult = { ok: true; pattern: ServicePattern } | { ok: false; problem: string }

/** The problem of a pattern is worded to complete "cannot be understood: …". */
export function compileServicePattern(source: string): ServicePatternResult {
  const result = compilePattern(source)
  if (!result.ok) return result
  const { pattern } = result
  const placeholders = source.match(/\{[^{}\s]*\}/g) ?? []
  const other = placeholders.find((word) => word !== PLACEHOLDER)
  if (other) return { ok: false, problem: `${other} means nothing; only ${PLACEHOLDER} does` }
  if (placeholders.length === 0)
    return { ok: false, problem: `it does not say where the service is named; put ${PLACEHOLDER} there` }
  if (placeholders.length > 1) return { ok: false, problem: `it has ${PLACEHOLDER} more than once` }
  const place = pattern.operands.indexOf(PLACEHOLDER)
  if (place === -1)
    return { ok: false, problem: `${PLACEHOLDER} must be a word of its own, after the program` }
  const each = place === pattern.operands.length - 1 && !pattern.open
  return { ok: true, pattern: { pattern, place, each } }
}

/** Expects patterns that were checked when the configuration was loaded; throws for others. */
export function compileCooldowns(settings: Readonly<Record<string, CooldownSettings>>): Cooldowns {
  const rules = Object.entries(settings)
  const patterns = rules.flatMap(([rule, { match }]) =>
    match.map((source) => {
      const result = compileServicePattern(source)
      if (result.ok) return { ...result.pattern, rule }
      throw new Error(`the command pattern ${JSON.stringify(source)} cannot be understood: ${result.problem}`)
    }),
  )
  return {
    limits: rules.map(([name, { limit, per }]) => ({ name, limit, perMs: per })),
    byProgram: Map.groupBy(patterns, ({ pattern }) => pattern.program),
  }
}

export type CooldownDecision =
  | { kind: 'allow'; claims: readonly Action[] }
  | {
      kind: 'refuse'
      /** For the agent. */
      reason: string
      rule: string
      service: string
      /** How often it was done within the time. */
      used: number
      /** When there is room again; null: never, for what is asked at once is more than the limit. */
      freeAt: Date | null
    }

/** All actions of one call together: there is room for each of them, or none is claimed. */
export function decideCooldown(
  actions: readonly Action[],
  taken: readonly TakenAction[],
  limits: readonly CooldownLimit[],
  now: Date,
): CooldownDecision {
  const asked: TakenAction[] = []
  for (const action of actions) {
    const limit = limits.find(({ name }) => name === action.rule)
    if (!limit) continue
    const recent = taken.filter((one) => one.rule === action.rule && isRecent(one, limit, now))
    const full = lanesOf(action, [...recent, ...asked]).find((lane) => lane.length >= limit.limit)
    if (full) return refusal(action, limit, full, recent, now)
    asked.push({ ...action, at: now })
  }
  return { kind: 'allow', claims: actions }
}

export function isRecent({ at }: { at: Date }, { perMs }: CooldownLimit, now: Date): boolean {
  return at.getTime() > now.getTime() - perMs
}

/** Whether two names may mean the same service. */
export function sameScope(one: string | null, other: string | null): boolean {
  return one === other || one === null || other === null
}

/** What counts against an action; for one that is done to every service, against each of them. */
function lanesOf(action: TakenAction | Action, all: readonly TakenAction[]): TakenAction[][] {
  const near = all.filter(({ rule, scope }) => rule === action.rule && sameScope(scope, action.scope))
  const services =
    action.service === EVERY ? new Set([EVERY, ...near.map(({ service }) => service)]) : [action.service]
  return [...services].map((name) => near.filter(({ service }) => service === name || service === EVERY))
}

function refusal(
  { rule, service, command }: Action,
  limit: CooldownLimit,
  lane: readonly TakenAction[],
  recent: readonly TakenAction[],
  now: Date,
): CooldownDecision {
  const before = lane.filter((one) => recent.includes(one)).sort((a, b) => a.at.getTime() - b.at.getTime())
  const last = before[lane.length - limit.limit]
  const freeAt = last && limit.limit > 0 ? new Date(last.at.getTime() + limit.perMs) : null
  const who = service === EVERY ? 'one of the services' : service
  const most = `at most ${limit.limit} per ${formatSpan(limit.perMs)} for each service`
  const why =
    limit.limit === 0
      ? `${rule} is not allowed for any service`
      : freeAt === null
        ? `it would be done more often than allowed by this command alone: ${most}`
        : `it was done to ${who} ${times(before.length)} of late: ${most}. It may be done again at ${freeAt.toISOString()} (in ${formatSpan(freeAt.getTime() - now.getTime())})`
  const advice =
    freeAt === null ? 'Do without it, or ask a person.' : 'Find out why it did not help, or ask a person.'
  return {
    kind: 'refuse',
    reason: `\`${command}\` is refused by the cooldown "${rule}": ${why}. ${advice}`,
    rule,
    service,
    used: before.length,
    freeAt,
  }
}

const times = (count: number) => (count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`)
