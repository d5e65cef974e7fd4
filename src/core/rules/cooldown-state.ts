/** The state of the cooldowns, so that an agent can see before it tries whether an action is possible. */

import { formatSpan } from '../span.ts'
import { type CooldownLimit, EVERY, isRecent, type TakenAction } from './cooldown.ts'

export interface CooldownState {
  updatedAt: string
  rules: Record<string, { limit: number; per: string }>
  /** By service, then by rule. Under `*`: what was done to all. */
  services: Record<string, Record<string, ServiceState>>
}

export interface ServiceState {
  /** Within the time of the rule, together with what was done to all. */
  used: number
  limit: number
  lastAt: string
  /** When it may be done again; null: now. */
  freeAt: string | null
}

/** Services of one name are taken together, wherever they are. */
export function describeCooldowns(
  rules: readonly CooldownLimit[],
  actions: readonly TakenAction[],
  now: Date,
): CooldownState {
  const found = rules.flatMap((rule) => {
    const recent = actions.filter((action) => action.rule === rule.name && isRecent(action, rule, now))
    const names = new Set(recent.map(({ service }) => service))
    return [...names].map((service) => ({ service, rule: rule.name, state: stateOf(service, rule, recent) }))
  })
  const services = Map.groupBy(
    found.sort((a, b) => (a.service < b.service ? -1 : a.service > b.service ? 1 : 0)),
    ({ service }) => service,
  )
  return {
    updatedAt: now.toISOString(),
    rules: Object.fromEntries(
      rules.map(({ name, limit, perMs }) => [name, { limit, per: formatSpan(perMs) }]),
    ),
    services: Object.fromEntries(
      [...services].map(([service, states]) => [
        service,
        Object.fromEntries(states.map(({ rule, state }) => [rule, state])),
      ]),
    ),
  }
}

function stateOf(
  name: string,
  { limit, perMs }: CooldownLimit,
  recent: readonly TakenAction[],
): ServiceState {
  const times = recent
    .filter(({ service }) => service === name || service === EVERY)
    .map(({ at }) => at.getTime())
    .sort((a, b) => a - b)
  const last = times.at(-1) ?? 0
  const blocking = times[times.length - limit]
  return {
    used: times.length,
    limit,
    lastAt: new Date(last).toISOString(),
    freeAt: blocking === undefined ? null : new Date(blocking + perMs).toISOString(),
  }
}
