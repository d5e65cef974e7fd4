/** Which outcomes of a resumed attempt are refusals, and when a session is cleared. */
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/contract/outcome.ts'
import {
  clearsSession,
  endedBeforeTurn,
  poisonOf,
  type ResumeEnd,
  refusesSession,
  toRefusal,
} from '../../src/core/continue/refused-resume.ts'

const crashed: Outcome = { name: 'crashed', message: 'the agent exited with 2 without a result' }
const end = (change: Partial<ResumeEnd> = {}): ResumeEnd => ({
  resumed: true,
  outcome: crashed,
  stopCause: null,
  exitCode: 2,
  starved: false,
  begun: false,
  ...change,
})
const timedOut: Outcome = { name: 'timed-out', message: 'printed nothing' }

it.each([
  ['exit 2', end()],
  ['exit 0 without a result', end({ exitCode: 0 })],
  ['SIGSEGV', end({ exitCode: 139 })],
  ['SIGABRT', end({ exitCode: 134 })],
  ['silence', end({ outcome: timedOut, stopCause: 'silent', exitCode: 143 })],
  ['its maximum duration', end({ outcome: timedOut, stopCause: 'timed-out', exitCode: null })],
])('refused: %s', (_, given) => expect(endedBeforeTurn(given)).toBe(true))

it.each([
  ['a turn was begun', end({ begun: true })],
  ['SIGKILL from outside', end({ exitCode: 137 })],
  ['SIGTERM from outside', end({ exitCode: 143 })],
  ['gone together with its keeper', end({ exitCode: null })],
  ['not executable', end({ exitCode: 126 })],
  ['not found', end({ exitCode: 127 })],
  ['its input was lost', end({ starved: true })],
  ['stopped for its output', end({ stopCause: 'output-limit' })],
  ['cancelled', end({ outcome: { name: 'cancelled', message: '' }, stopCause: 'cancelled' })],
  ['a refused login', end({ outcome: { name: 'auth', message: '', apiStatus: 401 } })],
])('no refusal: %s', (_, given) => expect(endedBeforeTurn(given)).toBe(false))

describe('the session is', () => {
  const badHistory: Outcome = { name: 'api-error', message: 'no', apiStatus: 400, historyRefused: true }
  it('poisoned by a refusal, and by a history that the model does not accept', () => {
    expect(poisonOf(toRefusal(crashed), true)).toMatchObject({ refused: true })
    expect(poisonOf(badHistory, true)).toMatchObject({ refused: false })
    expect(
      [crashed, { name: 'api-error' as const, message: 'no', apiStatus: 500 }].map((o) => poisonOf(o, true)),
    ).toEqual([null, null])
    expect(refusesSession(badHistory, false)).toBe(false)
  })

  it('cleared when the attempt in a new session fails in the same way', () => {
    const fresh = (change: Partial<ResumeEnd> = {}) => end({ resumed: false, ...change })
    const refused = { resumed: true, outcome: toRefusal(crashed) }
    expect(clearsSession(refused, fresh())).toBe(true)
    expect(clearsSession(refused, fresh({ begun: true }))).toBe(false)
    expect(clearsSession(undefined, fresh())).toBe(false)
    expect(clearsSession({ resumed: true, outcome: crashed }, fresh())).toBe(false)
    expect(
      clearsSession({ resumed: true, outcome: badHistory }, fresh({ outcome: badHistory, begun: true })),
    ).toBe(true)
    expect(clearsSession({ resumed: true, outcome: badHistory }, fresh())).toBe(false)
  })
})
