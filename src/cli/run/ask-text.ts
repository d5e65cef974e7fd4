/** The full text of an agent's question or permission request. */

import type { QuestionItem } from '../../contract/events.ts'
import type { PendingQuestion } from '../../contract/question.ts'
import { describeCall, visible } from '../../contract/visible-text.ts'

export function describeAsk(question: PendingQuestion): string {
  if (question.kind === 'permission')
    return `allow ${describeCall(question.tool ?? 'a tool', question.input)}`
  return (question.questions ?? [])
    .flatMap((item) => [visible(item.question), ...optionLines(item)])
    .join('\n')
}

/** The options of a question, numbered as they are chosen. */
export function optionLines({ options }: QuestionItem): string[] {
  return options.map(({ label, description }, index) =>
    visible(`  ${index + 1}) ${label}${description ? ` – ${description}` : ''}`),
  )
}

/** The command that answers it. */
export function answerCommand(runId: string, { kind, toolUseId }: PendingQuestion): string {
  const allow = '--allow (or --always, --deny)'
  return `reprise runs answer ${runId} ${toolUseId} ${kind === 'permission' ? allow : '--answer "…"'}`
}
