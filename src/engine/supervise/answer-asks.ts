/**
 * Answers the agent's questions before tool calls, if rules decide them or Reprise handles the tool itself. The answer
 * is sent before the question is stored: a daemon that reads the line again gives the same answer, and it is delivered
 * once. All other questions stay in the batch, for the permissions of the run or a person to decide.
 */
import type { EventBatch } from '../../store/runs/event-batch.ts'
import type { HeldProcess, NextPrompts } from '../base/next-prompts.ts'
import type { Persist } from '../base/persist.ts'
import type { Processes } from '../base/processes.ts'
import type { Gate } from '../enforce/gate.ts'

export interface AnswerAsksDeps {
  nextPrompts: Pick<NextPrompts, 'takeOver'>
  persist: Persist
  processes: Pick<Processes, 'deliver'>
}

/** The answer for a run without rules. */
const FREE = { answer: { decision: 'pass' }, refusal: null } as const

/** Returns true if the agent has planned a follow-up. */
export async function answerAsks(
  { nextPrompts, persist, processes }: AnswerAsksDeps,
  process: HeldProcess & { gate: Pick<Gate, 'decide'> | null },
  batch: EventBatch,
): Promise<boolean> {
  const { gate, adapter, dir, run } = process
  const asks = batch.actedOn.filter((event) => event.type === 'permission-ask')
  if (asks.length === 0) return false
  let planned = false
  const withdrawn = new Set(batch.actedOn.flatMap((e) => (e.type === 'question-cancel' ? [e.requestId] : [])))
  for (const ask of asks) {
    if (withdrawn.has(ask.requestId)) continue
    const takeOver = nextPrompts.takeOver(process, ask)
    if (!gate && takeOver === null) continue
    const decided = gate ? await gate.decide(ask) : FREE
    const { refusal } = decided
    let { answer } = decided
    if (refusal) batch.add([refusal])
    else if (takeOver) {
      const done = await takeOver()
      planned ||= done.planned
      batch.add([done.event])
      answer = { decision: 'deny', message: done.message }
    }
    // The rules do not refuse the call, so it is decided as in a run without rules.
    if (answer.decision === 'pass' && (ask.via === 'prompt' || run.request.permissions === 'ask-all'))
      continue
    await persist(() => processes.deliver(dir, adapter.answer(ask, answer)))
    batch.settle(ask)
  }
  return planned
}
