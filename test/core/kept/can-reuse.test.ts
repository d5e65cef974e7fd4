import { describe, expect, test } from 'vitest'
import type { Binding } from '../../../src/core/kept/binding.ts'
import {
  canReuse,
  type KeptFacts,
  type WantedProcess,
  whyNotReused,
} from '../../../src/core/kept/can-reuse.ts'

const NOW = new Date('2026-05-01T12:00:00Z')

const binding: Binding = {
  agent: 'claude',
  agentSessionId: 'session-1',
  runtimeId: 'runtime-1',
  version: '2.0.0',
  workDir: '/work',
  workDirId: '1:2',
  model: 'haiku',
  permissions: 'edits',
  sandbox: 'none',
  args: 'args-1',
  env: 'env-1',
  files: 'files-1',
  day: 'Fri May 01 2026',
}
const kept: KeptFacts = { binding, untilMs: NOW.getTime() + 1, isAlive: true, transcriptBytes: 100 }
const wanted: WantedProcess = {
  decision: { kind: 'resume', agentSessionId: 'session-1', carry: 'none' },
  kind: 'turn',
  binding,
  transcriptBytes: 100,
  outsideTurns: 0,
}

/** One change of each fact, each of which must prevent the reuse. */
const changes: Record<string, { kept?: Partial<KeptFacts>; wanted?: Partial<WantedProcess> }> = {
  'the process has ended': { kept: { isAlive: false } },
  'it is being ended': { kept: { leaving: 'politely' } },
  'it was kept long enough': { kept: { untilMs: NOW.getTime() } },
  'a new session is started': {
    wanted: { decision: { kind: 'fresh', reason: 'history-changed', carry: 'transcript' } },
  },
  'another session is resumed': {
    wanted: { decision: { kind: 'resume', agentSessionId: 'session-2', carry: 'none' } },
  },
  'the session is compacted': { wanted: { kind: 'compact' } },
  'others took turns in the session': { wanted: { outsideTurns: 1 } },
  'the transcript has grown': { wanted: { transcriptBytes: 101 } },
  'the transcript is gone': { wanted: { transcriptBytes: null } },
  'the run needs a process of its own': { wanted: { binding: null } },
  ...Object.fromEntries(
    Object.keys(binding).map((key) => [
      `another ${key}`,
      { wanted: { binding: { ...binding, [key]: 'another' } as Binding } },
    ]),
  ),
  'no model any more': { wanted: { binding: { ...binding, model: null } } },
  'an unknown directory': { wanted: { binding: { ...binding, workDirId: null } } },
}

describe('a kept process', () => {
  test('is reused if nothing differs', () => {
    expect(whyNotReused(kept, wanted, NOW)).toBeNull()
    expect(canReuse(kept, wanted, NOW)).toBe(true)
  })

  test.each(Object.entries(changes))('is not reused: %s', (_, change) => {
    const why = whyNotReused({ ...kept, ...change.kept }, { ...wanted, ...change.wanted }, NOW)
    expect(why).toEqual(expect.any(String))
  })

  test('is not reused for any two changes together either', () => {
    const all = Object.values(changes)
    for (const one of all)
      for (const other of all)
        expect(
          canReuse(
            { ...kept, ...one.kept, ...other.kept },
            { ...wanted, ...one.wanted, ...other.wanted },
            NOW,
          ),
        ).toBe(false)
  })

  test('is not reused for every reason to start fresh', () => {
    for (const reason of ['forced', 'expired', 'session-in-use', 'other-runtime', 'other-work-dir'] as const)
      expect(
        canReuse(kept, { ...wanted, decision: { kind: 'fresh', reason, carry: 'transcript' } }, NOW),
      ).toBe(false)
  })
})
