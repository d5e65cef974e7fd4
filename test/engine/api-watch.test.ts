/** What the events of a running agent show about the model's API. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { EventBody } from '../../src/contract/events.ts'
import { ApiWatch, type ApiWatchDeps } from '../../src/engine/obstacles/api-watch.ts'
import type { AttemptRecord } from '../../src/store/runs/attempt-records.ts'
import type { RunRecord } from '../../src/store/runs/records.ts'
import { T0 } from '../store/records.ts'

beforeEach(() => void vi.useFakeTimers({ now: T0 }))
afterEach(() => void vi.useRealTimers())

const call = (messageId: string): EventBody => ({ type: 'model-call', messageId, usage: {} })
const retry = (number: number): EventBody => ({ type: 'retry-wait', why: 'outage', number, delayMs: 500 })
const accept: EventBody = { type: 'prompt-accept', messageId: 'p' }

interface Given {
  doubt?: string | null
  short?: boolean
  /** Events that an earlier daemon stored. */
  stored?: EventBody[]
}

function watching({ doubt = null, short = false, stored = [] }: Given = {}) {
  const answers: Date[] = []
  const notes: EventBody[] = []
  const parts = {
    obstacles: {
      noteAnswer: async (_: RunRecord, calledAt: Date) => void answers.push(calledAt),
      findSetUpDoubt: async () => doubt,
      isShortOfPatience: async () => short,
    },
    store: {
      addEvents: async (_: AttemptRecord, events: EventBody[]) => void notes.push(...events),
      listEvents: async () => stored.map((body, index) => ({ body, seq: index + 1, chars: 10 })),
    },
    clock: { now: () => new Date(), monotonicMs: () => Date.now() },
    settings: { idleTimeoutMs: 600_000, jobs: { holdMs: 30_000 } },
    bus: { publish: () => {} },
    log: { warn: () => {} },
    persist: (write: () => Promise<unknown>) => write(),
  } as unknown as ApiWatchDeps
  const attempt = { id: 'att_1' } as unknown as AttemptRecord
  const api = new ApiWatch(parts, { run: { id: 'run_1' } as unknown as RunRecord, attempt })
  const see = (event: EventBody) => api.note(event, new Date())
  return { api, see, answers, notes }
}

it('counts a partial answer as an answer, with the time at which the call began', async () => {
  const { see, answers } = watching()
  await see(call('a'))
  expect(answers, 'a stream may still be cut off').toEqual([])
  vi.advanceTimersByTime(5000)
  await see(call('a'))
  expect(answers).toEqual([T0])
})

it('stops an agent that has retried for too long without an answer in between', async () => {
  const { see } = watching()
  expect(await see(retry(1))).toBeNull()
  vi.advanceTimersByTime(20_000)
  await see(call('a'))
  await see(call('a'))
  vi.advanceTimersByTime(20_000)
  expect(await see(retry(1)), 'it was answered meanwhile').toBeNull()
  vi.advanceTimersByTime(30_000)
  expect(await see(retry(2))).toMatchObject({ cause: 'outage' })
})

it('stops an agent early that only probes whether an obstacle is over', async () => {
  const { see } = watching({ short: true })
  expect([await see(retry(1)), await see(retry(2))]).toMatchObject([null, { cause: 'outage' }])
})

it('notes a request that hangs, once, if the account has never answered', async () => {
  const { see, notes } = watching({ doubt: 'perhaps a wrong address' })
  await see(accept)
  await vi.advanceTimersByTimeAsync(9999)
  expect(notes).toEqual([])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(notes).toEqual([
    { type: 'note', text: 'no answer from the model for 10 s. perhaps a wrong address' },
  ])
})

it.each([
  ['the model answers', call('a')],
  ['the agent says that it tries again', retry(1)],
])('adds no such note when %s', async (_, event) => {
  const { see, notes } = watching({ doubt: 'perhaps a wrong address' })
  await see(accept)
  await see(event)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(notes).toEqual([])
})

it('adds no such note if the account has answered before, or the agent has ended', async () => {
  const known = watching()
  await known.see(accept)
  const gone = watching({ doubt: 'perhaps a wrong address' })
  await gone.see(accept)
  gone.api.close()
  await vi.advanceTimersByTimeAsync(60_000)
  expect([...known.notes, ...gone.notes]).toEqual([])
})

it('blames the model for the silence of an agent whose request is unanswered, also one that was adopted', async () => {
  const request: EventBody = { type: 'model-request' }
  const { api, see } = watching({ stored: [request], short: true })
  expect(api.blameModel('silent', 1000)).toBeNull()
  await api.catchUp()
  expect(api.blameModel('silent', 1000)).toMatchObject({ cause: 'outage' })
  expect(await api.idleTimeoutMs(), 'all others wait for it').toBe(120_000)
  await see(call('a'))
  expect(api.blameModel('silent', 1000)).toBeNull()
  expect(await api.idleTimeoutMs()).toBe(600_000)
})
