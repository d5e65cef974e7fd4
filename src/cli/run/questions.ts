/**
 * Questions and permission requests of an agent while its run is followed. On a terminal the user answers them in
 * place, one at a time; elsewhere a line tells how to answer. A question that is answered elsewhere is withdrawn.
 */
import { createInterface } from 'node:readline/promises'
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { RunEvent } from '../../contract/events.ts'
import type { PendingQuestion, ToolResult } from '../../contract/question.ts'
import { visible } from '../../contract/visible-text.ts'
import type { CliContext } from '../base/context.ts'
import { pagesOf, showPages } from '../terminal/pages.ts'
import { describeAsk } from './ask-text.ts'
import type { RunView } from './view.ts'

export interface Questions {
  see: (event: RunEvent) => void
  close: () => void
}

type Ask = (text: string) => Promise<string>

export function createQuestions(
  client: Client,
  runId: string,
  context: CliContext,
  view: RunView,
): Questions {
  const interactive = context.stdin.isTTY === true && context.stderr.isTTY === true && !context.json
  const open = new Map<string, AbortController>()
  const toolOfRequest = new Map<string, string>()
  let turn: Promise<void> = Promise.resolve()

  const takeBack = (toolUseId: string | undefined) => {
    if (toolUseId === undefined) return
    open.get(toolUseId)?.abort()
    open.delete(toolUseId)
  }

  const handle = async (toolUseId: string, taken: AbortSignal): Promise<void> => {
    // The policy may have answered already, so the daemon is asked what is pending.
    const { pending } = await client.getRun(runId)
    const question = pending.find((item) => item.toolUseId === toolUseId)
    if (!question || taken.aborted) return
    if (!interactive) return tellHow(question)
    const takeBackScreen = view.giveWay()
    const lines = createInterface({ input: context.stdin, output: context.stderr as NodeJS.WritableStream })
    lines.on('SIGINT', () => context.interrupt())
    // Ctrl-D: the user does not want to answer here and now.
    const declined = new AbortController()
    lines.on('close', () => declined.abort())
    const signal = AbortSignal.any([taken, declined.signal])
    try {
      const ask: Ask = (text) => lines.question(text, { signal })
      const answer = await composeAnswer(question, ask, view, context)
      await client.answer(runId, answer)
    } catch (error) {
      if (!declined.signal.aborted || taken.aborted) throw error
      view.note('')
      tellHow(question)
    } finally {
      lines.close()
      takeBackScreen()
    }
  }

  const tellHow = (question: PendingQuestion) => {
    const how = question.kind === 'permission' ? '--allow (or --deny)' : '--answer "…"'
    view.note(
      `${describeAsk(question)}\n  answer with: reprise runs answer ${runId} ${question.toolUseId} ${how}`,
    )
  }

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

async function composeAnswer(
  question: PendingQuestion,
  ask: Ask,
  view: RunView,
  { stderr }: CliContext,
): Promise<ToolResult> {
  const { toolUseId, askHash } = question
  if (question.kind === 'permission') {
    const seen = await showPages(pagesOf(describeAsk(question), stderr), (page) => view.note(page), ask)
    if (!seen) return { toolUseId, askHash, decision: 'deny' }
    const reply = (await ask('allow? [y/N, or a reason to deny] ')).trim()
    if (/^(y|yes)$/i.test(reply)) return { toolUseId, askHash, decision: 'allow' }
    const reason = /^(n|no)?$/i.test(reply) ? {} : { message: reply }
    return { toolUseId, askHash, decision: 'deny', ...reason }
  }
  const answers: Record<string, string> = {}
  for (const item of question.questions ?? []) {
    view.note(visible(item.question))
    item.options.forEach((option, index) => {
      view.note(
        visible(`  ${index + 1}) ${option.label}${option.description ? ` – ${option.description}` : ''}`),
      )
    })
    const many = item.multiSelect ? 'numbers separated by commas' : 'a number'
    const reply = await ask(`your answer (${many}, or text): `)
    answers[item.question] = chosen(
      reply,
      item.options.map((option) => option.label),
    )
  }
  return { toolUseId, askHash, answers }
}

/** Numbers select options; any other text is the answer itself. */
function chosen(reply: string, labels: readonly string[]): string {
  const parts = reply.split(',').map((part) => part.trim())
  const picked = parts.map((part) => (/^\d+$/.test(part) ? labels[Number(part) - 1] : undefined))
  return picked.every((label) => label !== undefined) ? picked.join(', ') : reply.trim()
}
