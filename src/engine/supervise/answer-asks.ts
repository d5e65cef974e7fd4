/**
 * What an agent asks before it calls a tool, as far as rules answer it, or Reprise does the tool's work itself. Answered
 * before it is stored: who reads the line again gives the same answer, and it is delivered once. The rest stays in the
 * batch as a question for whoever decides in this run.
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

/** True if the agent has planned a further prompt. */
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
    // The rules have nothing against it; whether a person has is asked as in any other run.
    if (answer.decision === 'pass' && (ask.via === 'prompt' || run.request.permissions === 'ask-all'))
      continue
    await persist(() => processes.deliver(dir, adapter.answer(ask, answer)))
    batch.settle(ask)
  }
  return planned
}
