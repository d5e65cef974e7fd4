/** The path without an engine around it: every part that it needs, made by hand. A test replaces what it is about. */

import type { DriveDeps } from '../../../src/engine/path/drive.ts'
import { createPlainPurpose } from '../../../src/engine/path/plain.ts'
import { LiveRuns } from '../../../src/engine/supervise/live-runs.ts'
import { Trust } from '../../../src/engine/trust/trust.ts'
import type { Stage } from './stage.ts'

export function buildPath(stage: Stage, change: Partial<DriveDeps> = {}): DriveDeps {
  const input = stage.input()
  const { store, clock, settings } = input
  const persist: DriveDeps['persist'] = (write) => write()
  const nextPrompts: DriveDeps['nextPrompts'] = {
    takeOver: () => null,
    hold: () => ({ notePlanned: () => {}, give: async () => {}, look: async () => null }),
    noteTaken: async () => {},
  }
  const current = { current: async <T>(run: T) => run, taskOf: async () => null }
  const plain = createPlainPurpose({ store, clock, persist, settings, nextPrompts: current })
  return {
    ...input,
    persist,
    mirrors: { list: async () => [], catchUp: async () => true },
    nextPrompts,
    kept: { plan: () => null, add: () => {}, take: async () => null },
    purposes: { of: () => plain },
    live: new LiveRuns(() => {}),
    storageFailures: { current: null, newest: null },
    trust: new Trust(input),
    disk: { full: null, newestFull: null, findShortage: async () => null },
    temporaryErrors: new Map(),
    closing: new AbortController().signal,
    obstacles: {
      pass: async () => ({ kind: 'go' }),
      meet: async () => null,
      noteAnswer: async () => {},
      noteQuota: async () => {},
      isShortOfPatience: async () => false,
      findSetUpDoubt: async () => null,
    },
    enforcement: {
      openGate: () => null,
      chooseSandbox: async () => ({ sandbox: 'none', note: null }),
      arrange: async ({ agent, runtime, plan }) => ({
        gate: null,
        command: { program: runtime.path, args: plan.args },
        env: agent.env,
        warnings: [],
      }),
      accompany: () => async () => {},
      wasFree: () => false,
      release: () => {},
    },
    ...change,
  }
}
