/**
 * Counts the actions on services over all runs, tiers and daemons, and publishes to agents which actions are left.
 *
 * A claim is stored before its call is allowed. The file is written afterwards; it is only information for agents, and
 * no decision depends on it.
 */
import type { AttemptId, RunId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import {
  type Action,
  type Cooldowns as CooldownRules,
  compileCooldowns,
  decideCooldown,
} from '../../core/rules/cooldown.ts'
import type { RuleSettings } from '../../core/shell/tool-rules.ts'
import { formatSpan } from '../../core/span.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { persist } from '../base/persist.ts'
import type { StorageFailures } from '../base/storage-failures.ts'
import { sweepActions, writeCooldownFile } from './cooldown-file.ts'

export interface Claim {
  attemptId: AttemptId
  runId: RunId
  /** The tool call, or the call of a program. A repeated claim is counted once. */
  callId: string
  actions: readonly Action[]
}

interface CooldownParts {
  store: Pick<Store, 'claimActions' | 'listActions' | 'deleteActions'>
  clock: Clock
  stateDir: string
  redactor: Redactor
  log: Log
  closing: AbortSignal
  storageFailures?: StorageFailures
}

/** The release time of actions that are never allowed. */
const NEVER = new Date(8.64e15)

export class Cooldowns {
  readonly rules: CooldownRules
  readonly #parts: CooldownParts
  #writing: Promise<void> = Promise.resolve()

  constructor(parts: CooldownParts, { cooldowns = {} }: RuleSettings) {
    this.#parts = parts
    this.rules = compileCooldowns(cooldowns)
  }

  /** Returns null if the actions were counted and are allowed. */
  async claim({
    attemptId,
    runId,
    callId,
    actions,
  }: Claim): Promise<{ reason: string; rule: string } | null> {
    const { store, clock, redactor } = this.#parts
    const answer = await persist(this.#parts, () =>
      store.claimActions({
        attempt: { id: attemptId, runId },
        callId,
        actions: actions.map((action) => ({ ...action, command: redactor.text(action.command) })),
        limits: this.rules.limits,
        at: clock.now(),
      }),
    )
    if (!answer.granted) return { reason: answer.reason, rule: `cooldowns.${answer.rule}` }
    this.write()
    return null
  }

  /** Those of the services for which no action of any kind is allowed at present. */
  async exhausted(services: readonly string[]): Promise<{ service: string; freeAt: Date }[]> {
    const { limits } = this.rules
    if (limits.length === 0 || services.length === 0) return []
    const now = this.#parts.clock.now()
    const taken = await this.#recent(now)
    return services.flatMap((named) => {
      const service = named.replace(/\.service$/, '')
      const times = limits.map(({ name: rule }) => {
        const action = { rule, service, scope: null, command: '' }
        const decision = decideCooldown([action], taken, limits, now)
        return decision.kind === 'refuse' ? (decision.freeAt ?? NEVER) : null
      })
      const free = times.filter((at) => at !== null)
      const first = free.length === limits.length ? Math.min(...free.map((at) => at.getTime())) : null
      return first === null ? [] : [{ service: named, freeAt: new Date(first) }]
    })
  }

  describeRules(): { name: string; limit: number; per: string }[] {
    return this.rules.limits.map(({ name, limit, perMs }) => ({ name, limit, per: formatSpan(perMs) }))
  }

  /** Rewrites the file for agents. Writes do not overlap. */
  write(): void {
    const { store, clock, stateDir, log } = this.#parts
    this.#writing = this.#writing
      .then(async () => {
        const now = clock.now()
        await writeCooldownFile(stateDir, store, this.rules.limits, now)
      })
      .catch((error) => log.warn({ error: String(error) }, 'cooldown.json could not be written'))
  }

  async close(): Promise<void> {
    await this.#writing
  }

  /** Deletes actions that no rule counts any more. */
  async sweep(): Promise<void> {
    const { store, clock } = this.#parts
    await sweepActions(store, this.rules.limits, clock.now())
    this.write()
  }

  #recent(now: Date) {
    const longest = Math.max(0, ...this.rules.limits.map(({ perMs }) => perMs))
    return this.#parts.store.listActions({ since: new Date(now.getTime() - longest) })
  }
}
