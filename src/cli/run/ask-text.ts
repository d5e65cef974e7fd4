/** What an agent asks, for a person who is to decide: all of it, by page where it is long, and the end before the answer. */

import type { PendingQuestion } from '../../contract/run.ts'
import { describeCall, visible } from '../../contract/visible-text.ts'

export function describeAsk(question: PendingQuestion): string {
  if (question.kind === 'permission')
    return `may it use ${describeCall(question.tool ?? 'a tool', question.input)}`
  return (question.questions ?? []).map((item) => visible(item.question)).join('\n')
}
