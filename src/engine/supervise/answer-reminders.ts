/**
 * Tells an agent that has compacted its session in the middle of a turn what it may have forgotten. The answer is sent
 * before the question is stored, as for tool calls (answer-asks.ts). Whatever the agent is not told here, it is told with
 * its next message, because its session counts as compacted.
 */
import { remindMidTurn } from '../../core/prompt/reminder.ts'
import type { EventBatch } from '../../store/runs/event-batch.ts'
import type { Log } from '../base/log.ts'
import type { HeldProcess } from '../base/next-prompts.ts'
import type { Persist } from '../base/persist.ts'
import type { Processes } from '../base/processes.ts'
import { type ForgottenDeps, readForgotten } from '../base/reminder.ts'

export type AnswerRemindersDeps = ForgottenDeps & {
  persist: Persist
  processes: Pick<Processes, 'deliver'>
  log: Log
}

export async function answerReminders(
  deps: AnswerRemindersDeps,
  process: HeldProcess,
  batch: EventBatch,
): Promise<void> {
  const { adapter, dir } = process
  const withdrawn = new Set(batch.actedOn.flatMap((e) => (e.type === 'question-cancel' ? [e.requestId] : [])))
  const taken = new Set(batch.actedOn.flatMap((e) => (e.type === 'prompt-accept' ? [e.messageId] : [])))
  for (const ask of batch.actedOn.filter((event) => event.type === 'reminder-ask')) {
    if (!adapter.reminder || withdrawn.has(ask.requestId)) continue
    const reminder = ask.subAgent ? null : await read(deps, process, taken, adapter.reminder.maxChars)
    const message = adapter.reminder.answer(ask, reminder?.texts ?? [])
    await deps.persist(() => deps.processes.deliver(dir, message))
    if (reminder) batch.add([{ type: 'reminder', requestId: ask.requestId, whole: reminder.whole }])
  }
}

/** null: the agent is told with its next message. */
async function read(
  deps: AnswerRemindersDeps,
  { run, attempt, adapter }: HeldProcess,
  taken: ReadonlySet<string>,
  maxChars: number,
) {
  // The compaction is what was asked for, so there is no turn to go on with.
  const isWanted =
    attempt.kind === 'compact' ||
    (adapter.compactPrompt !== null && run.prompt.startsWith(adapter.compactPrompt))
  if (isWanted) return null
  try {
    const { texts, ...told } = await readForgotten(deps, run, attempt.agentSessionId, taken)
    return remindMidTurn(texts, told, maxChars)
  } catch (error) {
    // A tier may have been removed from the configuration, for instance. The agent must not wait for ever.
    deps.log.warn({ error, run: run.id }, 'the agent could not be reminded of its task')
    return null
  }
}
