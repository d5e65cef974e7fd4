/**
 * A daemon that dies before or after any of the timetable's writes: the next one, on the same store, continues as if
 * nothing had happened.
 */
import { expect, it } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { MINUTE, Stage, type StageParts } from './stage.ts'

const WRITES = new Set<keyof Store>([
  'fireWatch',
  'addCycle',
  'startCycle',
  'concludeCycle',
  'endCycle',
  'fireFollowUp',
  'endFollowUp',
  'endFollowUpsOf',
  'updateWatch',
  'settleQueued',
  'markCancelRequested',
])

interface Death {
  /** The write at which it dies, before or after it. */
  write: number
  done: boolean
}

/** After the death, no call reaches the store any more. */
function mortal(parts: StageParts, { write, done }: Death): { parts: StageParts; died: () => string | null } {
  let writes = 0
  let died: string | null = null
  const wrap = (name: string, call: (...given: unknown[]) => unknown) => {
    return async (...given: unknown[]) => {
      if (died !== null) throw new Error('dead')
      const last = WRITES.has(name as keyof Store) && ++writes === write
      if (last) died = name
      if (last && !done) throw new Error('dead')
      const answer = await call(...given)
      if (died !== null) throw new Error('dead')
      return answer
    }
  }
  // The effects are values that a write carries, not writes.
  const store = Object.fromEntries(
    Object.entries(parts.store).map(([name, part]) => [
      name,
      typeof part === 'function' ? wrap(name, part as (...given: unknown[]) => unknown) : part,
    ]),
  ) as unknown as Store
  return { parts: { ...parts, store }, died: () => died }
}

/** A cycle with follow-ups, of which one comes too late; another that waited for it to end; and some more. */
const LIFE: readonly ((stage: Stage) => Promise<unknown>)[] = [
  (stage) => stage.pass(10 * MINUTE),
  async (stage) => {
    const run = await stage.openRun()
    await stage.plan(run, { inMs: 5 * MINUTE }, 'once')
    await stage.plan(run, { cron: '*/10 * * * *', recurring: true, timeZone: 'UTC' }, 'again')
    await stage.plan(run, { inMs: 24 * MINUTE }, 'never')
    await stage.settle(run)
  },
  (stage) => stage.pass(5 * MINUTE),
  async (stage) => stage.settle(await stage.openRun()),
  (stage) => stage.pass(5 * MINUTE),
  (stage) => stage.pass(15 * MINUTE),
  async (stage) => stage.settle(await stage.openRun()),
  (stage) => stage.pass(MINUTE),
  (stage) => stage.pass(10 * MINUTE),
  async (stage) => stage.settle(await stage.openRun(), { status: 'down' }),
  (stage) => stage.pass(MINUTE),
]

/** The final state, with names instead of ids. */
async function summary(stage: Stage) {
  const cycles = await stage.cycles()
  const { items } = await stage.store.listFollowUps({ limit: 99 })
  const named = new Map(items.map(({ id, prompt }) => [id, prompt]))
  const numbers = new Map(cycles.map(({ id, number }) => [id, number]))
  const runs = await stage.runs()
  return {
    cycles: cycles.map(({ number, state, trigger, outcome, message, status, dueAt, startedAt, endedAt }) => ({
      number,
      state,
      trigger,
      outcome,
      message,
      status,
      times: [dueAt, startedAt, endedAt],
    })),
    runs: runs
      .map(({ links, state, createdAt }) => ({
        cycle: links.cycleId && numbers.get(links.cycleId),
        followUp: links.followUpId && named.get(links.followUpId),
        state: state.at === 'settled' ? state.outcome.name : state.at,
        at: createdAt.toISOString(),
      }))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    followUps: items.map(({ prompt, state, firedCount }) => ({ prompt, state, firedCount })),
    due: (await stage.store.findWatch('services'))?.due,
  }
}

/** Runs the whole life with one death on the way. Returns the write at which it died, and the final state. */
async function live(death: Death) {
  const stage = await Stage.set()
  await stage.watch({ everyMs: 10 * MINUTE, maxDurationMs: 25 * MINUTE, overlap: 'queue' })
  await stage.close()
  const { parts, died } = mortal(stage.parts, death)
  stage.open(parts)
  let buried = false
  for (const step of LIFE) {
    try {
      await step(stage)
    } catch (error) {
      if (died() === null || buried) throw error
      buried = true
      await stage.restart()
    }
  }
  const result = await summary(stage)
  await stage.clear()
  return { died: died(), result }
}

it('nothing is done twice, and nothing is lost', async () => {
  const { result: expected } = await live({ write: 0, done: false })
  expect(expected.cycles.map(({ state, outcome }) => outcome ?? state)).toEqual([
    'timed-out',
    'completed',
    'skipped',
    'completed',
  ])
  expect(expected.followUps).toEqual([
    { prompt: 'never', state: 'missed', firedCount: 0 },
    { prompt: 'again', state: 'missed', firedCount: 1 },
    { prompt: 'once', state: 'fired', firedCount: 1 },
  ])
  const deaths = new Set<string>()
  for (let write = 1; ; write++) {
    const before = await live({ write, done: false })
    if (before.died === null) break
    deaths.add(before.died)
    expect(before.result, `died before write ${write}, ${before.died}`).toEqual(expected)
    const after = await live({ write, done: true })
    expect(after.result, `died after write ${write}, ${after.died}`).toEqual(expected)
  }
  expect([...deaths].sort()).toEqual([
    'concludeCycle',
    'endCycle',
    'endFollowUpsOf',
    'fireFollowUp',
    'fireWatch',
    'settleQueued',
    'startCycle',
  ])
})
