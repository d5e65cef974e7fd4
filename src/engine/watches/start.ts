/** Begins a queued cycle: what its first run is told, in which session, and until when the whole may take. */
import { toRepriseError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import { decideMemory } from '../../core/watch/memory.ts'
import { composeCyclePrompt, type EarlierCycle } from '../../core/watch/prompt.ts'
import type { CycleRecord, WatchRecord } from '../../store/watch-records.ts'
import { checkRequest } from '../check-request.ts'
import type { EngineParts } from '../parts.ts'
import { persist } from '../persist.ts'
import { firstTierRun } from '../tiers/tier-run.ts'
import { endCycle } from './end.ts'

/** How many of the newest cycles are looked at, and told of when a memory begins anew. */
const REMEMBERED = 20

/** False: it was not begun, because another one is open or it could not be. */
export async function startCycle(
  parts: EngineParts,
  watch: WatchRecord,
  cycle: CycleRecord,
): Promise<boolean> {
  const { store, clock, settings } = parts
  const { definition } = watch
  try {
    const memory = await decideHowItRemembers(parts, watch)
    const prompt = composeCyclePrompt({
      prompt: definition.prompt,
      trigger: cycle.trigger,
      reason: cycle.reason,
      events: cycle.events,
      memory: memory.kind === 'renew' ? memory.earlier : null,
    })
    const request = {
      prompt,
      workDir: definition.workDir,
      agent: definition.agent ?? (await agentOf(parts, memory)),
      ...(memory.kind === 'resume' ? { sessionId: memory.sessionId } : {}),
      tier: 1,
      maxTier: definition.maxTier,
      dryRun: definition.dryRun,
      environment: definition.environment,
      maxBudgetUsd: definition.maxBudgetUsd,
    }
    const run = firstTierRun(parts, request, await checkRequest(parts, request))
    const at = clock.now()
    const deadlineAt = new Date(at.getTime() + (definition.maxDurationMs ?? settings.maxDurationMs))
    const renewed = memory.kind === 'renew' ? memory.why : null
    const started = await persist(parts, () =>
      store.startCycle({ id: cycle.id, run, prompt, events: cycle.events, renewed, deadlineAt }, at),
    )
    return started !== null
  } catch (error) {
    const { message, hint } = toRepriseError(error)
    await endCycle(parts, watch, cycle, {
      outcome: 'failed',
      message: parts.redactor.text(hint ? `${message}. ${hint}` : message),
    })
    return false
  }
}

type Remembering =
  | { kind: 'none' }
  | { kind: 'resume'; sessionId: SessionId }
  | { kind: 'renew'; why: string; earlier: EarlierCycle[] }

/** That of the session, as for every run; of one whose agent is not configured any more, the first there is. */
async function agentOf({ store, agents }: EngineParts, memory: Remembering): Promise<string | undefined> {
  const session = memory.kind === 'resume' ? await store.getSession(memory.sessionId) : null
  return session && !agents.names().includes(session.agent) ? agents.names()[0] : undefined
}

async function decideHowItRemembers(
  { store, clock }: EngineParts,
  { id, definition, memory }: WatchRecord,
): Promise<Remembering> {
  if (definition.memory !== 'persistent') return { kind: 'none' }
  // Not those that were skipped or could not begin: they were in no session.
  const { items: ended } = await store.listCycles({ watchId: id, limit: REMEMBERED, worked: true })
  const decision = decideMemory({
    memory,
    newest: ended.map(({ outcome, status }) => ({ outcome, status })),
    renewAfterMs: definition.renewAfterMs ?? null,
    renewAfterCycles: definition.renewAfterCycles ?? null,
    now: clock.now(),
  })
  if (decision.kind === 'resume' && memory) return { kind: 'resume', sessionId: memory.sessionId }
  if (decision.kind !== 'renew') return { kind: 'none' }
  const earlier = ended.toReversed().map(({ number, startedAt, dueAt, status, summary }) => ({
    number,
    at: startedAt ?? dueAt,
    status: status as EarlierCycle['status'],
    summary,
  }))
  return { kind: 'renew', why: decision.why, earlier }
}
