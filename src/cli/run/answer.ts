/** `reprise runs answer`: answers the only open question of a run, or the one that is named. */
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { PendingQuestion, ToolResult } from '../../contract/question.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { usageError } from '../base/usage-error.ts'
import { showWhole } from '../terminal/show-whole.ts'
import { describeAsk } from './ask-text.ts'

interface AnswerOptions {
  runId: string
  toolUseId: string | undefined
  allow?: boolean
  deny?: boolean
  message?: string
  answer?: string[]
}

export async function answerQuestion(
  client: Client,
  options: AnswerOptions,
  context: CliContext,
): Promise<void> {
  const { allow, deny, answer, runId } = options
  if ([allow, deny, answer].filter((given) => given !== undefined).length !== 1) {
    throw usageError('expected exactly one of --allow, --deny and --answer')
  }
  const { pending } = await client.getRun(runId)
  const question = pick(pending, options)
  // What is allowed is shown in full first, also in the log of a script.
  if (allow && !context.json) await showWhole(describeAsk(question), 'Refuse it with --deny.', context)
  const run = await client.answer(runId, toResult(question, options))
  if (context.json) return printJson(context, run)
  await printLine(context, `Answered ${question.toolUseId}.`)
}

function pick(pending: readonly PendingQuestion[], { runId, toolUseId }: AnswerOptions): PendingQuestion {
  const ids = pending.map((question) => question.toolUseId)
  const found = toolUseId === undefined ? pending[0] : pending.find((item) => item.toolUseId === toolUseId)
  if (!found) {
    const what = toolUseId === undefined ? 'has no open question' : `has no open question ${toolUseId}`
    const hint = ids.length === 0 ? `See: reprise runs show ${runId}` : `Open questions: ${ids.join(', ')}`
    throw new RepriseError('question-unknown', `run ${runId} ${what}`, { hint })
  }
  if (toolUseId === undefined && pending.length > 1) {
    throw usageError(`run ${runId} has several open questions`, `Name one of them: ${ids.join(', ')}`)
  }
  return found
}

function toResult(question: PendingQuestion, options: AnswerOptions): ToolResult {
  const { toolUseId, askHash } = question
  if (question.kind === 'question') {
    if (!options.answer)
      throw usageError('the agent asks a question, not for a permission', 'Answer with --answer "…"')
    return { toolUseId, askHash, answers: toAnswers(question, options.answer) }
  }
  if (options.answer)
    throw usageError('the agent asks for a permission, not a question', 'Answer with --allow or --deny.')
  if (options.allow) return { toolUseId, askHash, decision: 'allow' }
  return {
    toolUseId,
    askHash,
    decision: 'deny',
    ...(options.message === undefined ? {} : { message: options.message }),
  }
}

function toAnswers({ questions = [] }: PendingQuestion, given: readonly string[]): Record<string, string> {
  const [only] = questions
  if (questions.length === 1 && only) {
    const text = given.join(', ')
    const prefix = `${only.question}=`
    return { [only.question]: text.startsWith(prefix) ? text.slice(prefix.length) : text }
  }
  const answers: Record<string, string> = {}
  for (const { question } of questions) {
    const answer = given.find((text) => text.startsWith(`${question}=`))
    if (answer === undefined) {
      throw usageError(
        `no answer to ${JSON.stringify(question)}`,
        `Add: --answer ${JSON.stringify(`${question}=…`)}`,
      )
    }
    answers[question] = answer.slice(question.length + 1)
  }
  return answers
}
