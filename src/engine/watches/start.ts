/** Starts a queued cycle: decides the prompt and session of its first run, and the deadline of the cycle. */
import type { AgentRegistry } from '../../agents/registry.ts'
import { toRepriseError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import { dayOf } from '../../core/schedule/day.ts'
import { nextAt } from '../../core/schedule/schedule.ts'
import { machineTimeZone } from '../../core/schedule/time-zone.ts'
import { type DailyBudget, decideDailyBudget, endedByDailyBudget } from '../../core/watch/daily-budget.ts'
import { decideMemory } from '../../core/watch/memory.ts'
import { composeCyclePrompt, type EarlierCycle } from '../../core/watch/prompt.ts'
import type { Store } from '../../store/store.ts'
import type { CycleRecord, WatchRecord } from '../../store/watches/records.ts'
import { spentBy } from '../accounting/allowance.ts'
import { type CheckDeps, checkRequest } from '../path/check-request.ts'
import { firstTierRun, type TierRunDeps } from '../tiers/tier-run.ts'
import { type EndCycleDeps, endCycle } from './end.ts'
import { scheduleOf } from './schedule-of.ts'

export type StartCycleDeps = EndCycleDeps &
  CheckDeps &
  TierRunDeps & {
    store: Pick<Store, 'startCycle' | 'listSpendOfWatch' | 'listCycles' | 'updateWatch' | 'getSession'>
    agents: Pick<AgentRegistry, 'names'>
    redactor: Redactor
    settings: { maxDurationMs: number }
  }

/** How many of the newest cycles are considered, and summarised when the memory is renewed. */
const REMEMBERED = 20

/** Returns false if the cycle was not started, because another one is open or because of an error. */
export async function startCycle(
  deps: StartCycleDeps,
  watch: WatchRecord,
  cycle: CycleRecord,
): Promise<boolean> {
  const { store, clock, settings, persist } = deps
  const { definition } = watch
  try {
    const today = await readDailyBudget(deps, watch)
    if (today?.kind === 'used-up') return await waitForTomorrow(deps, watch, cycle, today)
    const memory = await decideHowItRemembers(deps, watch)
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
      agent: definition.agent ?? (await agentOf(deps, memory)),
      ...(memory.kind === 'resume' ? { sessionId: memory.sessionId } : {}),
      tier: 1,
      maxTier: definition.maxTier,
      dryRun: definition.dryRun,
      environment: definition.environment,
      maxBudgetUsd: leastOf(definition.maxBudgetUsd ?? settings.escalation.budgetUsd, today?.usd),
    }
    const run = firstTierRun(deps, request, await checkRequest(deps, request))
    const at = clock.now()
    const deadlineAt = new Date(at.getTime() + (definition.maxDurationMs ?? settings.maxDurationMs))
    const renewed = memory.kind === 'renew' ? memory.why : null
    const started = await persist(() =>
      store.startCycle({ id: cycle.id, run, prompt, events: cycle.events, renewed, deadlineAt }, at),
    )
    return started !== null
  } catch (error) {
    const { message, hint } = toRepriseError(error)
    await endCycle(deps, watch, cycle, {
      outcome: 'failed',
      message: deps.redactor.text(hint ? `${message}. ${hint}` : message),
    })
    return false
  }
}

const leastOf = (...amounts: (number | null | undefined)[]): number | undefined => {
  const given = amounts.filter((amount) => amount != null)
  return given.length > 0 ? Math.min(...given) : undefined
}

async function readDailyBudget(
  { store, clock }: StartCycleDeps,
  { id, definition }: WatchRecord,
): Promise<DailyBudget | null> {
  const limitUsd = definition.maxBudgetUsdPerDay
  if (limitUsd === undefined) return null
  const timeZone = definition.timeZone ?? machineTimeZone()
  const now = clock.now()
  const spentUsd = spentBy(await store.listSpendOfWatch(id, dayOf(now, timeZone).startedAt)).usd
  return decideDailyBudget({ limitUsd, spentUsd, timeZone }, now)
}

/**
 * The first cycle of the day for which no budget is left fails, with a notification; later ones are cancelled silently.
 */
async function waitForTomorrow(
  deps: StartCycleDeps,
  watch: WatchRecord,
  cycle: CycleRecord,
  { until, message }: Extract<DailyBudget, { kind: 'used-up' }>,
): Promise<false> {
  const { store, clock, persist } = deps
  const { items } = await store.listCycles({ watchId: watch.id, limit: 1, cursor: cycle.id })
  const told = items.some((before) => endedByDailyBudget(before.message, until))
  await endCycle(deps, watch, cycle, { outcome: told ? 'cancelled' : 'failed', message })
  const schedule = scheduleOf(watch)
  if (schedule && watch.state === 'active') {
    const at = schedule.kind === 'every' ? until : nextAt(schedule, new Date(until.getTime() - 1))
    await persist(() => store.updateWatch(watch.id, { due: { at, fireAt: at } }, clock.now()))
  }
  return false
}

type Remembering =
  | { kind: 'none' }
  | { kind: 'resume'; sessionId: SessionId }
  | { kind: 'renew'; why: string; earlier: EarlierCycle[] }

/** The default agent, if the agent of the resumed session is not configured any more; otherwise the session decides. */
async function agentOf({ store, agents }: StartCycleDeps, memory: Remembering): Promise<string | undefined> {
  const session = memory.kind === 'resume' ? await store.getSession(memory.sessionId) : null
  return session && !agents.names().includes(session.agent) ? agents.defaultName : undefined
}

async function decideHowItRemembers(
  { store, clock }: StartCycleDeps,
  { id, definition, memory }: WatchRecord,
): Promise<Remembering> {
  if (definition.memory !== 'persistent') return { kind: 'none' }
  // Cycles that were skipped or could not start are left out, because they had no session.
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
