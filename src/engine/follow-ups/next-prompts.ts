/** Implements base/next-prompts.ts with follow-ups, for supervision and the path. */
import { composeFollowUpPrompt } from '../../core/watch/prompt.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { NextPrompts } from '../base/next-prompts.ts'
import { answerSchedulingCall, type CallDeps } from './agent-calls.ts'
import { FollowUpHold, type HoldDeps } from './hold.ts'
import { markTaken, type TakenDeps } from './reconcile.ts'

export type NextPromptsDeps = HoldDeps &
  CallDeps &
  TakenDeps & { store: Pick<Store, 'findLiveFollowUp' | 'getFollowUp' | 'getRun'> }

export function createNextPrompts(deps: NextPromptsDeps): NextPrompts {
  const { store } = deps
  return {
    current: (run) => atFollowUp(store, run),

    // The task is the prompt of the run that planned the follow-up.
    taskOf: async ({ id, links }) => {
      const followUp = links.followUpId === null ? null : await store.getFollowUp(links.followUpId)
      const planner = followUp?.runId ? await store.getRun(followUp.runId) : null
      return planner === null || planner.id === id ? null : planner.prompt
    },

    hold: (process) => new FollowUpHold(deps, process),
    noteTaken: (attempt, messageIds) => markTaken(deps, attempt, messageIds),
    takeOver: ({ run, attempt, adapter }, ask) => {
      const call = adapter.readScheduling(ask.tool, ask.input)
      return call && (() => answerSchedulingCall(deps, { run, attempt }, ask, call))
    },
  }
}

/** If the run's process was kept for a follow-up and received it, the follow-up is the run's current prompt. */
async function atFollowUp(store: Pick<Store, 'findLiveFollowUp'>, run: RunRecord): Promise<RunRecord> {
  const live = run.attemptCount === 0 ? null : await store.findLiveFollowUp(run.id)
  if (!live?.firedMessageId || !live.firedAt) return run
  return {
    ...run,
    prompt: composeFollowUpPrompt({ ...live, now: live.firedAt }),
    promptId: live.firedMessageId,
    links: { ...run.links, followUpId: live.id },
  }
}
