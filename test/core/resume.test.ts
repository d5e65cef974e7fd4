/** The resume decision, checked by what a user sees: the reason, and what is carried. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FreshReason } from '../../src/contract/run.ts'
import { decideResume } from '../../src/core/resume/decide.ts'
import type { ResumeFacts } from '../../src/core/resume/facts.ts'
import { findRuntimeChange, type RuntimeFacts } from '../../src/core/resume/runtime.ts'
import { checkProperty } from './random.ts'
import { factsArbitrary, goodFacts, goodPin, NOW, RUNTIME, withPin } from './resume-facts.ts'

const ago = (ms: number) => new Date(NOW.getTime() - ms)

/** One bad fact each, in the order in which the reasons are to be reported when several hold. */
const REFUSALS: [FreshReason, string, (facts: ResumeFacts) => ResumeFacts][] = [
  ['no-resume-capability', 'the agent cannot resume', (f) => ({ ...f, canResume: false })],
  ['forced', 'the caller wants a fresh one', (f) => ({ ...f, forceFresh: true })],
  ['other-agent', 'the session is of another agent', (f) => pinned(f, { agent: 'codex' })],
  [
    'refused',
    'the agent refused it before',
    (f) => pinned(f, { poison: { refused: true, message: 'gone' } }),
  ],
  ['poisoned', 'it is poisoned', (f) => pinned(f, { poison: { refused: false, message: 'signature' } })],
  ['no-prior-turn', 'nobody has spoken in it', (f) => pinned(f, { turns: 0 })],
  ['history-changed', 'the history was edited since', (f) => pinned(f, { epoch: 2 })],
  [
    'other-work-dir',
    'it belongs to another directory',
    (f) => pinned(f, { workDir: '/srv/other', workDirId: '1:2:4' }),
  ],
  [
    'other-runtime',
    'the command is another one',
    (f) => pinned(f, { runtime: { ...RUNTIME, command: '/opt/claude' } }),
  ],
  ['expired', 'it is too old', (f) => pinned(f, { lastUsedAt: ago(3_600_001) })],
  ['too-many-resumes', 'the run has resumed often enough', (f) => ({ ...f, resumesUsed: 3 })],
  ['context-full', 'its context is too full', (f) => pinned(f, { contextTokens: 160_001 })],
  ['transcript-missing', 'its transcript is gone', (f) => pinned(f, { transcript: 'missing' })],
  ['transcript-unreadable', 'its transcript is damaged', (f) => pinned(f, { transcript: 'unreadable' })],
  ['transcript-foreign', "its transcript is another session's", (f) => pinned(f, { transcript: 'foreign' })],
  ['transcript-behind', 'its transcript lacks the last turn', (f) => pinned(f, { transcript: 'behind' })],
  ['transcript-broken', 'its transcript has a hole', (f) => pinned(f, { transcript: 'broken' })],
  ['transcript-forked', 'its transcript went on without us', (f) => pinned(f, { transcript: 'forked' })],
  [
    'session-leased',
    'another run of ours writes it',
    (f) => pinned(f, { holder: { kind: 'lease', runId: 'r' } }),
  ],
  [
    'session-in-use',
    'a process not ours writes it',
    (f) => pinned(f, { holder: { kind: 'process', pid: 7 } }),
  ],
]

function pinned(facts: ResumeFacts, change: Partial<typeof goodPin>): ResumeFacts {
  return { ...facts, pin: { ...goodPin, ...facts.pin, ...change } }
}

describe('a session is resumed', () => {
  it('when no guard refuses, and then nothing of the past is carried', () => {
    expect(decideResume(goodFacts, NOW)).toEqual({
      kind: 'resume',
      agentSessionId: goodPin.agentSessionId,
      carry: 'none',
    })
  })

  it.each([
    ['its age is exactly the limit', withPin({ lastUsedAt: ago(3_600_000) })],
    ['it was used later than now (a clock was set back)', withPin({ lastUsedAt: ago(-5000) })],
    ['its context is filled exactly to the threshold', withPin({ contextTokens: 160_000 })],
    ['nobody knows how full it is', withPin({ contextTokens: null })],
    ['nobody knows how large its window is', withPin({ contextTokens: 900_000, contextWindow: null })],
    ['one resume is left', { ...goodFacts, resumesUsed: 2 }],
    [
      'it was interrupted once, and that is all it may be',
      { ...goodFacts, resumesUsed: 1, limits: { ...goodFacts.limits, maxResumes: 1 } },
    ],
    ['its directory was renamed', withPin({ workDir: '/srv/before' })],
    ['its directory was made anew in the same place', withPin({ workDirId: '1:9:9' })],
    ['the end of its transcript is torn, which is mended', withPin({ transcript: 'torn' })],
    [
      'it is a new turn, of a run that may not be resumed',
      { ...goodFacts, limits: { ...goodFacts.limits, maxResumes: 0 } },
    ],
    [
      'an attempt of this very run did something in it',
      { ...goodFacts, past: { turns: false, unfinishedWork: true } },
    ],
  ])('also when %s', (_, facts) => {
    expect(decideResume(facts, NOW).kind).toBe('resume')
  })
})

describe('a fresh session is started', () => {
  it.each(REFUSALS)('%s: %s', (reason, _, spoil) => {
    expect(decideResume(spoil(goodFacts), NOW)).toEqual({ kind: 'fresh', reason, carry: 'transcript' })
  })

  it('for the first run, which has no session yet', () => {
    const facts = { ...goodFacts, pin: null, past: { turns: false, unfinishedWork: false } }
    expect(decideResume(facts, NOW)).toEqual({ kind: 'fresh', reason: 'first-run', carry: 'none' })
    expect(decideResume({ ...facts, forceFresh: true }, NOW)).toMatchObject({ reason: 'forced' })
    const switched = { ...facts, past: { turns: true, otherAgent: true, unfinishedWork: false } }
    expect(decideResume(switched, NOW)).toMatchObject({ reason: 'other-agent', carry: 'transcript' })
  })

  it('never by a later reason while an earlier one holds as well', () => {
    const combined = REFUSALS.flatMap(([earlier, , spoilEarlier], i) =>
      REFUSALS.slice(i + 1).map(([later, , spoilLater]) => ({
        earlier,
        later,
        got: decideResume(spoilEarlier(spoilLater(goodFacts)), NOW),
      })),
    )
    const wrong = combined.filter(({ earlier, got }) => got.kind !== 'fresh' || got.reason !== earlier)
    expect(wrong).toEqual([])
  })

  it.each([
    [{ turns: false, unfinishedWork: false }, 'none'],
    [{ turns: true, unfinishedWork: false }, 'transcript'],
    [{ turns: false, unfinishedWork: true }, 'handoff'],
    [{ turns: true, unfinishedWork: true }, 'handoff'],
  ] as const)('and carries what there is: %o → %s', (past, carry) => {
    for (const [, , spoil] of REFUSALS) {
      expect(decideResume({ ...spoil(goodFacts), past }, NOW)).toMatchObject({ kind: 'fresh', carry })
    }
  })
})

describe('the executable that wrote a session', () => {
  const now = RUNTIME
  it.each<[string, Partial<RuntimeFacts>, string]>([
    ['was another command', { command: '/opt/claude' }, '/opt/claude'],
    ['was a newer version', { version: '2.1.326' }, 'older'],
    ['was a newer version, by a number and not by a letter', { version: '2.10.0' }, 'older'],
    ['was the next major version', { version: '3.0.0-beta.1' }, 'older'],
    ['could do more', { can: ['resume', 'fork', 'budget'] }, 'budget'],
  ])('%s: not resumed, with the reason', (_, wrote, why) => {
    expect(findRuntimeChange({ ...now, ...wrote }, now)).toContain(why)
  })

  it.each<[string, Partial<RuntimeFacts> | null]>([
    ['was the same', {}],
    ['was not recorded', null],
    ['was an older version', { version: '2.1.99' }],
    ['was an older major version', { version: '1.9.999' }],
    ['could do less', { can: ['resume'] }],
    ['was recorded before commands were', { command: null }],
    ['has no version that could be compared', { version: 'nightly' }],
    ['has no version', { version: null }],
    ['had another fingerprint, and nothing else', { id: 'of an older Reprise' }],
  ])('%s: resumed', (_, wrote) => {
    expect(findRuntimeChange(wrote && { ...now, ...wrote }, now)).toBeNull()
  })
})

describe('with any facts', () => {
  /** A newer version, another command, one thing more that it could do. */
  const BAD_RUNTIMES = ['2.1.326', '/opt/claude', 'budget']

  /** An independent list of the guards, not derived from the code. */
  function speaksAgainst(f: ResumeFacts): boolean {
    const { pin } = f
    if (pin === null || !f.canResume || f.forceFresh) return true
    // The limit applies to resuming after a crash; a new turn may always continue its session.
    if (f.resumesUsed >= 2 && f.resumesUsed >= f.limits.maxResumes) return true
    const full = pin.contextTokens !== null && pin.contextWindow ? pin.contextTokens / pin.contextWindow : 0
    return (
      pin.agent !== f.agent ||
      (pin.runtime !== null && BAD_RUNTIMES.some((bad) => JSON.stringify(pin.runtime).includes(bad))) ||
      (pin.workDir !== f.workDir && (pin.workDirId === null || pin.workDirId !== f.workDirId)) ||
      pin.epoch !== f.epoch ||
      pin.turns < 1 ||
      pin.poison !== null ||
      NOW.getTime() - pin.lastUsedAt.getTime() > f.limits.maxAgeMs ||
      pin.full ||
      full > f.limits.contextThreshold ||
      (pin.transcript !== 'present' && pin.transcript !== 'torn') ||
      pin.holder !== null
    )
  }

  it('resume and carry never disagree', () => {
    let resumed = 0
    checkProperty(
      fc.property(factsArbitrary, (facts) => {
        const decision = decideResume(facts, NOW)
        expect(decision.kind).toBe(speaksAgainst(facts) ? 'fresh' : 'resume')
        if (decision.kind === 'resume') {
          resumed++
          expect(decision.carry).toBe('none')
          expect(decision.agentSessionId).toBe(facts.pin?.agentSessionId)
        } else {
          expect(decision.carry === 'none').toBe(!facts.past.turns && !facts.past.unfinishedWork)
          expect(decision.carry === 'handoff').toBe(facts.past.unfinishedWork)
        }
      }),
      3000,
    )
    expect(resumed).toBeGreaterThan(100)
  })
})
