/**
 * `reprise runs answer` and `reprise jobs answer`: answers the only open question of a run, or the one that is named. On a
 * terminal and without an answer in the options, the question is shown with its options and the person is asked.
 */
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { QuestionItem } from '../../contract/events.ts'
import type { PendingQuestion, ToolResult } from '../../contract/question.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { usageError } from '../base/usage-error.ts'
import { isInteractive, openDialogue } from '../terminal/dialogue.ts'
import { showWhole } from '../terminal/show-whole.ts'
import { styleFor } from '../terminal/terminal.ts'
import { describeAsk } from './ask-text.ts'
import { chosen, composeAnswer } from './compose-answer.ts'

export interface AnswerOptions {
  runId: string
  toolUseId: string | undefined
  allow?: boolean
  always?: boolean
  deny?: boolean
  message?: string
  answer?: string[]
}

export async function answerQuestion(
  client: Client,
  options: AnswerOptions,
  context: CliContext,
): Promise<void> {
  const { allow, always, deny, answer, runId } = options
  const given = [allow, always, deny, answer].filter((one) => one !== undefined).length
  if (given > 1 || (given === 0 && !isInteractive(context))) {
    throw usageError('expected exactly one of --allow, --always, --deny and --answer')
  }
  const { pending } = await client.getRun(runId)
  if (given === 0) return answerHere(client, pending, options, context)
  const question = pick(pending, options)
  // What is allowed is shown in full first, also in the log of a script.
  if ((allow || always) && !context.json)
    await showWhole(describeAsk(question), 'Refuse it with --deny.', context)
  const run = await client.answer(runId, toResult(question, options))
  if (context.json) return printJson(context, run)
  await printLine(context, `Answered ${question.toolUseId}.`)
}

/** All open questions in turn, or the one that is named. Ctrl-D leaves the rest open. */
async function answerHere(
  client: Client,
  pending: readonly PendingQuestion[],
  options: AnswerOptions,
  context: CliContext,
): Promise<void> {
  const several = options.toolUseId === undefined && pending.length > 1
  const dialogue = openDialogue(context)
  const { safe } = styleFor(context.stderr, context.env)
  const show = (line: string) => notify(context, safe(line))
  try {
    for (const question of several ? pending : [pick(pending, options)]) {
      const asking = { ask: dialogue.ask, show, screen: context.stderr }
      await client.answer(options.runId, await composeAnswer(question, asking))
      await printLine(context, `Answered ${question.toolUseId}.`)
    }
  } catch (error) {
    if (!dialogue.declined()) throw error
    throw usageError('nothing was answered', `Answer later with: reprise runs answer ${options.runId}`)
  } finally {
    dialogue.close()
  }
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
  if (options.always) return { toolUseId, askHash, decision: 'allow', remember: true }
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
    const said = text.startsWith(prefix) ? text.slice(prefix.length) : text
    return { [only.question]: chosen(said, labelsOf(only)) }
  }
  const answers: Record<string, string> = {}
  for (const item of questions) {
    const { question } = item
    const answer = given.find((text) => text.startsWith(`${question}=`))
    if (answer === undefined) {
      throw usageError(
        `no answer to ${JSON.stringify(question)}`,
        `Add: --answer ${JSON.stringify(`${question}=…`)}`,
      )
    }
    answers[question] = chosen(answer.slice(question.length + 1), labelsOf(item))
  }
  return answers
}

const labelsOf = ({ options }: QuestionItem) => options.map(({ label }) => label)

/** Adds the options of an answer to a command. */
export function addAnswerOptions(command: Command): Command {
  return command
    .argument('[toolUseId]', 'the question, if there are several')
    .option('--allow', 'allow the tool call')
    .option('--always', 'allow it now, and the same call in the rest of the session')
    .option('--deny', 'deny the tool call')
    .option('--message <text>', 'with --deny: a reason for the agent')
    .option(
      '--answer <text...>',
      'the answer, or the numbers of options; "question=answer" if there are several questions',
    )
}
