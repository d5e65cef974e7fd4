/**
 * Questions and permission requests of an agent while its run is followed. On a terminal the user answers them in
 * place, one at a time; elsewhere a line tells how to answer. A question that is answered elsewhere is withdrawn.
 */
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { RunEvent } from '../../contract/events.ts'
import type { PendingQuestion } from '../../contract/question.ts'
import type { CliContext } from '../base/context.ts'
import { isInteractive, openDialogue } from '../terminal/dialogue.ts'
import { type Keys, NO_KEYS } from '../terminal/keys.ts'
import { answerCommand, describeAsk } from './ask-text.ts'
import { composeAnswer } from './compose-answer.ts'
import type { RunView } from './view.ts'

export interface Questions {
  see: (event: RunEvent) => void
  close: () => void
}

export function createQuestions(
  client: Client,
  runId: string,
  context: CliContext,
  view: RunView,
  keys: Keys = NO_KEYS,
): Questions {
  const interactive = isInteractive(context)
  const open = new Map<string, AbortController>()
  const toolOfRequest = new Map<string, string>()
  let turn: Promise<void> = Promise.resolve()

  const takeBack = (toolUseId: string | undefined) => {
    if (toolUseId === undefined) return
    open.get(toolUseId)?.abort()
    open.delete(toolUseId)
  }

  const handle = async (toolUseId: string, taken: AbortSignal): Promise<void> => {
    // Lets events be seen that have already arrived: when a run is shown from its beginning, most questions are answered.
    await new Promise((next) => setImmediate(next))
    if (taken.aborted) return
    // The policy may have answered already, so the daemon is asked what is pending.
    const { pending } = await client.getRun(runId)
    const question = pending.find((item) => item.toolUseId === toolUseId)
    if (!question || taken.aborted) return
    if (!interactive) return tellHow(question)
    const takeBackScreen = view.giveWay()
    const takeBackKeys = keys.giveWay()
    const dialogue = openDialogue(context, taken)
    try {
      const asking = { ask: dialogue.ask, show: view.note, screen: context.stderr }
      await client.answer(runId, await composeAnswer(question, asking))
    } catch (error) {
      if (!dialogue.declined()) throw error
      view.note('')
      tellHow(question)
    } finally {
      dialogue.close()
      takeBackKeys()
      takeBackScreen()
    }
  }

  const tellHow = (question: PendingQuestion) =>
    view.note(`${describeAsk(question)}\n  answer with: ${answerCommand(runId, question)}`)

  return {
    see: (event) => {
      if (event.type === 'permission-ask' || event.type === 'question-ask') {
        const { toolUseId, requestId } = event
        const controller = new AbortController()
        open.set(toolUseId, controller)
        toolOfRequest.set(requestId, toolUseId)
        turn = turn
          .then(() => handle(toolUseId, controller.signal))
          .catch((error: unknown) => explain(error, view))
      }
      if (event.type === 'question-answer') takeBack(event.toolUseId)
      if (event.type === 'question-cancel') takeBack(toolOfRequest.get(event.requestId))
    },
    close: () => {
      for (const controller of open.values()) controller.abort()
    },
  }
}

/** A failure to ask or to answer does not end the following of the run. */
function explain(error: unknown, view: RunView): void {
  if (error instanceof Error && error.name === 'AbortError') return
  const known = error instanceof RepriseError && error.code === 'question-answered'
  view.note(
    known
      ? 'the question was answered elsewhere'
      : `could not answer: ${error instanceof Error ? error.message : error}`,
  )
}
