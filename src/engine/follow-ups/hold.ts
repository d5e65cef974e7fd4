/**
 * Keeps a process that has ended its turn waiting for a follow-up that is due soon. Worth it for a short while: to resume
 * the session costs a new process, to wait costs the memory of this one.
 *
 * nothing to wait for → waiting until it is due → given, until the agent has taken it → (its turn) → looked at again.
 * Whoever adopts the process comes to the same: what is planned is in the store, and a message is given once however
 * often it is sent.
 */
import type { AgentAdapter } from '../../agents/adapter.ts'
import type { EventOf } from '../../contract/events.ts'
import type { FollowUpId } from '../../contract/ids.ts'
import { readRecommendation } from '../../core/escalation/signal.ts'
import { composeReminder } from '../../core/prompt/compose.ts'
import { splitAsides } from '../../core/prompt/parts.ts'
import { composeFollowUpPrompt } from '../../core/watch/prompt.ts'
import { type AttemptDir, deliver } from '../../process/attempt-dir.ts'
import type { AttemptRecord, RunRecord } from '../../store/base/records.ts'
import { persist } from '../base/persist.ts'
import type { EngineParts } from '../parts.ts'
import { readTierText } from '../tiers/brief.ts'

export interface HoldInput {
  run: RunRecord
  attempt: AttemptRecord
  adapter: AgentAdapter
  dir: AttemptDir
}

/** null: the process may end. A time: it waits until then. `given`: it has a prompt to take. */
export type Held = Date | 'given' | null

export class Hold {
  readonly #parts: EngineParts
  readonly #in: HoldInput
  /** Few runs plan anything: the store is asked only of those that may have. */
  #mayHave: boolean
  #told: string | null = null

  constructor(parts: EngineParts, input: HoldInput) {
    this.#parts = parts
    this.#in = input
    this.#mayHave = input.attempt.process !== null
  }

  notePlanned(): void {
    this.#mayHave = true
  }

  async look(end: EventOf<'turn-end'> | null): Promise<Held> {
    const { run, attempt, adapter, dir } = this.#in
    const { store, clock, settings } = this.#parts
    if (!this.#mayHave || attempt.kind !== 'turn' || end?.outcome.name !== 'completed') return null
    if (isTalk(run) || wantsToEscalate(run, end)) return null
    const [first] = await store.listPlannedOfRun(run.id)
    const now = clock.now()
    const { holdMs } = settings.followUps
    // With a hold of 0 every follow-up is a run of its own, also one that is overdue when the turn ends.
    if (!first || holdMs === 0 || first.dueAt.getTime() - now.getTime() > holdMs) return null
    if (first.dueAt > now) {
      await this.#tell(first.id, first.dueAt)
      return first.dueAt
    }
    if ((await store.getRun(run.id))?.cancelRequested) return null
    const texts = [
      ...(await this.#retold(first.id)),
      ...splitAsides(composeFollowUpPrompt({ ...first, now })),
    ]
    await persist(this.#parts, () => store.noteGiven(attempt.sessionId, first.messageId))
    await persist(this.#parts, () => deliver(dir, adapter.prompt(first.messageId, texts)))
    return 'given'
  }

  /** What the session was told once, if it has been compacted since. */
  async #retold(followUpId: FollowUpId): Promise<string[]> {
    const { run, attempt } = this.#in
    const { store, agents } = this.#parts
    const session = await store.getSession(attempt.sessionId)
    if (!session?.compacted) return []
    // The agent may have been taken out of the configuration: the process is here all the same. A report that is asked
    // for in the text is understood in either case.
    const runtime = await agents.runtime(run.agent).catch(() => null)
    const decision = { kind: 'resume', agentSessionId: session.agentSessionId, carry: 'none' } as const
    const due = { ...run, links: { ...run.links, followUpId } }
    const tier = await readTierText(this.#parts, due, {
      decision,
      standing: 'compacted',
      bySchema: runtime?.capabilities.structuredOutput ?? false,
    })
    return composeReminder({ tier: tier?.text ?? null, task: run.prompt })
  }

  async #tell(id: string, dueAt: Date): Promise<void> {
    if (this.#told === id) return
    this.#told = id
    const { attempt } = this.#in
    const text = `waits in its process for follow-up ${id}, due at ${dueAt.toISOString()}`
    await persist(this.#parts, () =>
      this.#parts.store.addEvents(attempt, [{ type: 'note', text }], this.#parts.clock.now()),
    )
    this.#parts.bus.publish(attempt.runId)
  }
}

/** Whoever talks with it is not kept waiting for the answer; what comes later is a turn of its own. */
const isTalk = ({ links }: RunRecord) => links.conversationId !== null

/** Whoever calls for the next tier is not waited with. */
const wantsToEscalate = ({ links }: RunRecord, { structured, text }: EventOf<'turn-end'>) =>
  links.tier !== null &&
  readRecommendation({ structured, text: text ?? null, exitCode: null }).escalate === true
