/** The full text of an agent's question or permission request. */

import type { PendingQuestion } from '../../contract/question.ts'
import { describeCall, visible } from '../../contract/visible-text.ts'

export function describeAsk(question: PendingQuestion): string {
  if (question.kind === 'permission')
    return `allow ${describeCall(question.tool ?? 'a tool', question.input)}`
  return (question.questions ?? []).map((item) => visible(item.question)).join('\n')
}
