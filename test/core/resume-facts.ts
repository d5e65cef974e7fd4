import fc from 'fast-check'
import type { Pin, ResumeFacts } from '../../src/core/resume/facts.ts'
import type { RuntimeFacts } from '../../src/core/resume/runtime.ts'

export const NOW = new Date('2026-03-01T12:00:00Z')

export const RUNTIME: RuntimeFacts = {
  id: 'a',
  command: '/bin/claude',
  version: '2.1.325',
  can: ['resume', 'fork'],
}

export const goodPin: Pin = {
  agentSessionId: '11111111-2222-4333-8444-555555555555',
  agent: 'claude',
  runtime: RUNTIME,
  workDir: '/srv/project',
  workDirId: '1:2:3',
  epoch: 3,
  lastUsedAt: new Date(NOW.getTime() - 60_000),
  turns: 2,
  poison: null,
  contextTokens: 10_000,
  contextWindow: 200_000,
  full: false,
  transcript: 'present',
  holder: null,
}

/** Facts that allow resuming. */
export const goodFacts: ResumeFacts & { pin: Pin } = {
  agent: 'claude',
  runtime: RUNTIME,
  workDir: '/srv/project',
  workDirId: '1:2:3',
  canResume: true,
  forceFresh: false,
  epoch: 3,
  resumesUsed: 0,
  pin: goodPin,
  limits: { maxAgeMs: 3_600_000, maxResumes: 3, contextThreshold: 0.8 },
  past: { turns: true, unfinishedWork: false },
}

export const withPin = (pin: Partial<Pin>): ResumeFacts => ({ ...goodFacts, pin: { ...goodPin, ...pin } })

/** Mostly facts that allow resuming, so that many random cases have no reason against it, or only one. */
const mostly = <T>(good: readonly T[], bad: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { arbitrary: fc.constantFrom(...good), weight: 12 },
    { arbitrary: fc.constantFrom(...bad), weight: 1 },
  )

const ago = (ms: number) => new Date(NOW.getTime() - ms)

const pinArbitrary: fc.Arbitrary<Pin> = fc.record({
  agentSessionId: fc.uuid(),
  agent: mostly(['claude'], ['codex']),
  runtime: mostly<RuntimeFacts | null>(
    [
      RUNTIME,
      null,
      { ...RUNTIME, version: '2.1.324' },
      { ...RUNTIME, can: ['resume'] },
      { ...RUNTIME, command: null },
    ],
    [
      { ...RUNTIME, version: '2.1.326' },
      { ...RUNTIME, command: '/opt/claude' },
      { ...RUNTIME, can: [...RUNTIME.can, 'budget'] },
    ],
  ),
  workDir: mostly(['/srv/project'], ['/srv/other', '/srv/project/']),
  workDirId: fc.constantFrom(null, '1:2:3', '1:2:4'),
  epoch: mostly([3], [2, 4]),
  lastUsedAt: mostly([ago(0), ago(60_000), ago(3_600_000), ago(-1)], [ago(3_600_001), ago(10_000_000)]),
  turns: mostly([1, 2, 50], [0]),
  poison: mostly<Pin['poison']>(
    [null],
    [
      { refused: true, message: 'x' },
      { refused: false, message: 'y' },
    ],
  ),
  contextTokens: mostly<number | null>([null, 0, 100_000, 160_000], [160_001, 250_000]),
  contextWindow: fc.constantFrom(null, 0, 200_000, 1_000_000),
  full: mostly([false], [true]),
  transcript: mostly<Pin['transcript']>(
    ['present', 'torn'],
    ['missing', 'unreadable', 'foreign', 'behind', 'broken', 'forked'],
  ),
  holder: mostly<Pin['holder']>(
    [null],
    [
      { kind: 'lease', runId: 'run_x' },
      { kind: 'process', pid: 7 },
    ],
  ),
})

export const factsArbitrary: fc.Arbitrary<ResumeFacts> = fc.record({
  agent: mostly(['claude'], ['codex']),
  runtime: fc.constant(RUNTIME),
  workDir: mostly(['/srv/project'], ['/srv/other']),
  workDirId: fc.constantFrom(null, '1:2:3'),
  canResume: mostly([true], [false]),
  forceFresh: mostly([false], [true]),
  epoch: mostly([3], [4]),
  resumesUsed: mostly([0, 1, 2], [3, 4]),
  pin: fc.option(pinArbitrary, { freq: 12 }),
  limits: mostly([goodFacts.limits], [{ ...goodFacts.limits, maxResumes: 0 }]),
  past: fc.record({ turns: fc.boolean(), unfinishedWork: fc.boolean() }),
})
