/** Asks a person to answer an agent's question or permission request, with the options numbered. */
import type { PendingQuestion, ToolResult } from '../../contract/question.ts'
import { visible } from '../../contract/visible-text.ts'
import type { TerminalOut } from '../base/context.ts'
import { pagesOf, showPages } from '../terminal/pages.ts'
import { describeAsk, optionLines } from './ask-text.ts'

export interface Asking {
  ask: (prompt: string) => Promise<string>
  show: (line: string) => void
  screen: Pick<TerminalOut, 'rows' | 'columns'>
}

export async function composeAnswer(question: PendingQuestion, asking: Asking): Promise<ToolResult> {
  const { toolUseId, askHash } = question
  const decided =
    question.kind === 'permission'
      ? await decidePermission(question, asking)
      : { answers: await answersTo(question, asking) }
  return { toolUseId, askHash, ...decided }
}

async function decidePermission(
  question: PendingQuestion,
  { ask, show, screen }: Asking,
): Promise<Pick<ToolResult, 'decision' | 'remember' | 'message'>> {
  if (!(await showPages(pagesOf(describeAsk(question), screen), show, ask))) return { decision: 'deny' }
  const reply = (
    await ask('allow? [y = yes, a = always in this session, N = no, or a reason to deny] ')
  ).trim()
  if (/^(y|yes)$/i.test(reply)) return { decision: 'allow' }
  if (/^(a|always)$/i.test(reply)) return { decision: 'allow', remember: true }
  return { decision: 'deny', ...(/^(n|no)?$/i.test(reply) ? {} : { message: reply }) }
}

async function answersTo(question: PendingQuestion, { ask, show }: Asking): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const item of question.questions ?? []) {
    show(visible(item.question))
    for (const line of optionLines(item)) show(line)
    const many = item.multiSelect ? 'numbers separated by commas' : 'a number'
    const how = item.options.length > 0 ? ` (${many}, or text)` : ''
    let reply = ''
    while (reply.trim() === '') reply = await ask(`your answer${how}: `)
    answers[item.question] = chosen(
      reply,
      item.options.map((option) => option.label),
    )
  }
  return answers
}

/** Numbers select options; any other text is the answer itself. */
export function chosen(reply: string, labels: readonly string[]): string {
  const parts = reply.split(',').map((part) => part.trim())
  const picked = parts.map((part) => (/^\d+$/.test(part) ? labels[Number(part) - 1] : undefined))
  return picked.every((label) => label !== undefined) ? picked.join(', ') : reply.trim()
}
