/** How an attempt ended, where the engine knows better than the agent. */
import { expect, it } from 'vitest'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { readLimit } from '../../src/engine/obstacles/met-limit.ts'
import { classify, exitOf } from '../../src/engine/path/judge.ts'
import type { Trace } from '../../src/engine/path/trace.ts'
import type { StoredEvent } from '../../src/store/runs/records.ts'

/** An attempt whose agent printed the result of a finished turn. */
const finished = {
  own: [],
  attempt: { stopCause: null },
  turnEnd: { type: 'turn-end', outcome: { name: 'completed', message: 'completed' }, turns: 1 },
} as unknown as Trace

it.each([
  ['exited', { kind: 'exited', code: 0, starved: false }, 'completed'],
  ['exited after it had lost its input', { kind: 'exited', code: 0, starved: true }, 'crashed'],
  ['was killed with its keeper after its turn', { kind: 'lost', starved: false }, 'completed'],
  ['was ended because nothing fed its input', { kind: 'lost', starved: true }, 'crashed'],
] as const)('an agent that reports success and %s', (_, end, expected) => {
  const outcome = classify(claudeAdapter, finished, [], exitOf({ ...end, strays: 0 }, ''))
  expect(outcome.name).toBe(expected)
})

it.each([
  ['was killed', 'unshare: sigprocmask unblock failed: Invalid argument\n', 137],
  ['could not be made', 'unshare: unshare failed: Operation not permitted\n', 126],
  ['is not there, and the agent ended by itself', 'No conversation found\n', 1],
])('a sandbox that %s says nothing about the session', (_, stderr, expected) => {
  const end = { kind: 'exited', code: 1, starved: false, strays: 0 } as const
  expect(exitOf(end, `an earlier line\n${stderr}`).exitCode).toBe(expected)
})

it('an outage concerns one model only if the server answered since the last answer of the model', () => {
  const at = new Date()
  const retry = { at, body: { type: 'retry-wait', number: 1, apiStatus: 529, why: 'outage' } }
  const answer = { at, body: { type: 'model-call', messageId: 'm', usage: {} } }
  const scopeAfter = (...events: object[]) => readLimit(events as StoredEvent[], 'outage').limitScope
  expect(scopeAfter(answer, retry)).toBe('model')
  expect(scopeAfter(retry, answer), 'the request after it hangs').toBe('account')
})
