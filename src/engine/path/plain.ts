/** The purpose of a plain run. The other purposes are based on it and override parts of it. */

import type { Clock } from '../../core/clock.ts'
import type { Store } from '../../store/store.ts'
import { type AllowanceStore, payerOf, readPayersAllowance } from '../accounting/allowance.ts'
import type { Persist } from '../base/persist.ts'
import { NOTHING_FOUND, type RunPurpose } from '../base/purpose.ts'
import { buildRun } from './build-run.ts'
import { type ContextDeps, readSessionContext } from './context.ts'

export type PlainDeps = ContextDeps & {
  store: AllowanceStore & Pick<Store, 'takeInOutside'>
  clock: Clock
  persist: Persist
  settings: { dryRun: boolean }
}

export function createPlainPurpose(deps: PlainDeps): RunPurpose {
  const { store, clock, persist, settings } = deps
  return {
    name: 'run',
    claims: () => true,
    unattended: false,
    afterLongWait: 'pause',

    readContext: (run) => readSessionContext(deps, run),
    planAgent: () => null,
    agentOptions: () => null,
    rulesOf: () => null,
    contextWindowOf: () => null,

    readAllowance: (run) => readPayersAllowance(store, payerOf(run)),
    raisableBudget: false,

    beforeAttempt: async () => NOTHING_FOUND,
    duringAttempt: async () => () => {},
    afterAttempt: async () => [],
    takeIn: (_, { session, turns }) =>
      persist(() => store.takeInOutside({ session, conversation: null, turns, at: clock.now() })),

    judge: (outcome) => outcome,
    readEnding: async () => [],
    afterSettled: async () => {},

    readPauseNotices: async () => [],
    tellOfQuestion: async () => {},

    keepsWarm: false,
    keepsProcess: () => true,
    laterRun: async (before, { followUpId, prompt, promptId, at }) => ({
      run: buildRun({
        agent: before.agent,
        model: before.model,
        workDir: before.workDir,
        prompt,
        promptId,
        request: {
          permissions: before.request.permissions,
          maxDurationMs: before.request.maxDurationMs,
          maxResumes: before.request.maxResumes,
          maxTurns: before.request.maxTurns,
          turnsInAll: before.request.turnsInAll,
          maxBudgetUsd: before.request.maxBudgetUsd,
          ...(before.request.dryRun || settings.dryRun ? { dryRun: true } : {}),
          sandbox: before.request.sandbox,
        },
        sessionId: before.sessionId,
        followUpId,
        budgetOf: payerOf(before),
        createdAt: at,
      }),
    }),
  }
}
