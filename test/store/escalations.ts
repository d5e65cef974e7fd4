/** What every store must do for chains of runs. Part of the conformance suite. */
import { describe, expect, it } from 'vitest'
import { RunId } from '../../src/contract/ids.ts'
import type { NewRun } from '../../src/store/runs/records.ts'
import type { Store } from '../../src/store/store.ts'
import type { EscalationRecord, TierEnding } from '../../src/store/tiers/records.ts'
import { at, ending, newRun, running, T0 } from './records.ts'

const tierRun = (number: number, parentRunId: RunId | null, change: Partial<NewRun> = {}): NewRun =>
  newRun({ tier: { number, parentRunId }, ...change })

const record = (runId: RunId, change: Partial<EscalationRecord> = {}): EscalationRecord => ({
  runId,
  tier: 1,
  decision: 'escalate',
  reason: 'recommended',
  message: 'it is needed',
  toTier: 2,
  nextRunId: null,
  recommendation: { source: 'none', escalate: null, signal: null, problem: null },
  decidedBy: 'rules',
  decidedAt: at(9),
  expiresAt: null,
  ...change,
})

/** A run at tier 1 that has settled with this ending. */
async function settled(store: Store, tier: (id: RunId) => TierEnding) {
  const { run, attempt } = await running(store, { tier: { number: 1, parentRunId: null } })
  await store.endAttempt(ending(attempt, { effects: [store.effects.escalate(tier(run.id))] }))
  return { run, attempt }
}

export const waiting = (runId: RunId, seconds: number): TierEnding => ({
  escalation: record(runId, { decision: 'ask', reason: 'approval-needed', expiresAt: at(seconds) }),
  next: null,
  notices: [],
})

export function describeEscalations(open: () => Promise<Store>): void {
  describe('escalation', () => {
    it('settles a run, stores the reason, and queues the next tier, in one step', async () => {
      const store = await open()
      const next = tierRun(2, null)
      const { run } = await settled(store, (id) => ({
        escalation: record(id, { nextRunId: next.id }),
        next: { ...next, tier: { number: 2, parentRunId: id } },
        notices: [],
      }))
      expect(await store.getEscalation(run.id)).toEqual(record(run.id, { nextRunId: next.id }))
      expect(await store.getRun(next.id)).toMatchObject({
        state: { at: 'queued' },
        links: { tier: 2, parentRunId: run.id },
      })
      expect((await store.listStartable(at(10), 9)).map(({ id }) => id)).toEqual([next.id])
    })

    it('is part of the ending: repeated by a daemon that has lost the run, nothing happens', async () => {
      const store = await open()
      const next = tierRun(2, null)
      const { run, attempt } = await settled(store, (id) => ({
        escalation: record(id),
        next: null,
        notices: [],
      }))
      const again = ending(attempt, {
        effects: [store.effects.escalate({ escalation: record(run.id), next, notices: [] })],
      })
      await expect(store.endAttempt(again)).rejects.toThrow()
      expect(await store.getRun(next.id)).toBeNull()
    })

    it('does not happen if the run was cancelled before its end was stored', async () => {
      const store = await open()
      const next = tierRun(2, null)
      const { run, attempt } = await running(store, { tier: { number: 1, parentRunId: null } })
      await store.markCancelRequested(run.id, at(8))
      const tier = { escalation: record(run.id, { nextRunId: next.id }), next, notices: [] }
      await store.endAttempt(ending(attempt, { effects: [store.effects.escalate(tier)] }))
      expect(await store.getEscalation(run.id)).toMatchObject({
        decision: 'stop',
        reason: 'cancelled',
        nextRunId: null,
      })
      expect(await store.getRun(next.id)).toBeNull()
    })

    it('of a run that never started is stored too', async () => {
      const store = await open()
      const { run } = await store.admitRun(tierRun(1, null))
      const tier: TierEnding = {
        escalation: record(run.id, { decision: 'stop', reason: 'cancelled' }),
        next: null,
        notices: [],
      }
      await store.settleQueued(run.id, { name: 'cancelled', message: '' }, at(1), [
        store.effects.escalate(tier),
      ])
      expect(await store.getEscalation(run.id)).toMatchObject({ decision: 'stop', reason: 'cancelled' })
    })

    it('waits for one answer: the first', async () => {
      const store = await open()
      const { run } = await settled(store, (id) => waiting(id, 60))
      const [a, b] = [tierRun(2, run.id), tierRun(2, run.id)]
      const yes = {
        decision: 'escalate',
        reason: 'approved',
        message: 'ok',
        decidedBy: 'person',
        at: at(20),
      } as const
      const no = {
        decision: 'stop',
        reason: 'refused',
        message: 'no',
        decidedBy: 'person',
        at: at(20),
      } as const
      const answers = await Promise.all([
        store.answerEscalation(run.id, yes, { next: a, notices: [] }),
        store.answerEscalation(run.id, no, { next: null, notices: [] }),
        store.answerEscalation(run.id, yes, { next: b, notices: [] }),
      ])
      expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
      expect(await store.getEscalation(run.id)).toMatchObject({
        decision: 'escalate',
        nextRunId: a.id,
        decidedBy: 'person',
        decidedAt: at(20),
      })
      expect(await store.getRun(b.id)).toBeNull()
      expect(await store.listWaitingEscalations(9)).toEqual([])
    })

    it('lists pending ones, those expiring first come first', async () => {
      const store = await open()
      const late = await settled(store, (id) => waiting(id, 90))
      const soon = await settled(store, (id) => waiting(id, 60))
      await settled(store, (id) => ({ escalation: record(id), next: null, notices: [] }))
      const ids = (await store.listWaitingEscalations(9)).map(({ runId }) => runId)
      expect(ids).toEqual([soon.run.id, late.run.id])
    })
  })

  describe('a chain', () => {
    it('is found from each of its runs, root first, and contains no others', async () => {
      const store = await open()
      const ids = Array.from({ length: 4 }, (_, i) => RunId.create(new Date(T0.getTime() + i)))
      const [root, second, third, other] = ids as [RunId, RunId, RunId, RunId]
      for (const [id, tier, parent] of [
        [root, 1, null],
        [second, 2, root],
        [third, 3, second],
        [other, 1, null],
      ] as const) {
        await store.admitRun(tierRun(tier, parent, { id }))
      }
      for (const id of [root, second, third]) {
        expect((await store.listChain(id)).map((run) => run.id)).toEqual([root, second, third])
      }
      expect((await store.listChain(other)).map((run) => run.id)).toEqual([other])
      expect(await store.listChain(RunId.create(T0))).toEqual([])
    })

    it('ends, also if it contains a cycle', async () => {
      const store = await open()
      const [a, b] = [RunId.create(T0), RunId.create(at(1))]
      await store.admitRun(tierRun(1, b, { id: a }))
      await store.admitRun(tierRun(2, a, { id: b }))
      expect(await store.listChain(a)).toEqual([])
    })
  })
}
