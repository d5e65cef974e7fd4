import { RepriseError } from '../../contract/errors.ts'
import type { RunId } from '../../contract/ids.ts'
import type { ToolResult } from '../../contract/question.ts'
import { nameOfCall } from '../../core/permission/same-call.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { Tx } from '../base/transaction.ts'
import { allowCall } from './allowed-calls.ts'
import type { QuestionRecord } from './attempt-records.ts'
import { appendEvents } from './events.ts'
import { hashOf } from './questions.ts'
import { toQuestion } from './rows.ts'

/** Stores the answer, once. The caller delivers it afterwards, and may repeat the delivery. */
export async function answerQuestion(
  tx: Tx,
  runId: RunId,
  { toolUseId, askHash, ...given }: ToolResult,
  by: 'person' | 'policy',
  at: Date,
): Promise<QuestionRecord> {
  const rows = await tx
    .selectFrom('questions')
    .selectAll()
    .where('run_id', '=', runId)
    .where('tool_use_id', '=', toolUseId)
    .orderBy('asked_at', 'desc')
    .execute()
  if (rows.length === 0) {
    throw new RepriseError('question-unknown', `run ${runId} has no question with the id ${toolUseId}`, {
      hint: `GET /api/runs/${runId} lists its pending questions.`,
    })
  }
  // A hook and a prompt may both ask about one tool call, one after the other.
  const standing = rows.filter((r) => r.answer === null && r.closed_at === null)
  const row = askHash === undefined ? standing[0] : standing.find(({ ask }) => hashOf(ask) === askHash)
  if (!row && standing.length > 0) {
    throw new RepriseError('conflict', `question ${toolUseId} has changed since it was shown`, {
      hint: `GET /api/runs/${runId} returns the current question.`,
    })
  }
  if (!row) {
    const closed = rows[0]?.answer === null
    throw closed
      ? new RepriseError('run-settled', `question ${toolUseId} is closed: the agent continued or has ended`)
      : alreadyAnswered(toolUseId)
  }
  const question = toQuestion(row)
  const answer = toItsWords(question.ask, given, tx.redactor)
  checkFits(question.ask, answer)
  const { numUpdatedRows } = await tx
    .updateTable('questions')
    .set({ answer: JSON.stringify(answer), answered_at: at.getTime() })
    .where('attempt_id', '=', row.attempt_id)
    .where('request_id', '=', row.request_id)
    .where('answer', 'is', null)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw alreadyAnswered(toolUseId)
  if (answer.remember && answer.decision === 'allow' && question.ask.type === 'permission-ask')
    await allowCall(tx, row.attempt_id, nameOfCall(question.ask), at)
  await appendEvents(
    tx,
    runId,
    row.attempt_id,
    [
      {
        type: 'question-answer',
        toolUseId,
        decision: answer.decision ?? 'answer',
        by,
        ...(answer.message ? { reason: answer.message } : {}),
      },
    ],
    at,
  )
  return { ...question, answer, answeredAt: at }
}

const alreadyAnswered = (toolUseId: string) =>
  new RepriseError('question-answered', `question ${toolUseId} has been answered already`)

/** Restores the original texts of questions and options: the person who answers may have been shown redacted ones. */
function toItsWords(
  ask: QuestionRecord['ask'],
  answer: Omit<ToolResult, 'toolUseId'>,
  redactor: Redactor,
): Omit<ToolResult, 'toolUseId'> {
  if (ask.type !== 'question-ask' || answer.answers === undefined) return answer
  const own = new Map(
    ask.questions
      .flatMap(({ question, options }) => [question, ...options.map(({ label }) => label)])
      .map((words) => [redactor.text(words), words]),
  )
  const answers = Object.entries(answer.answers).map(([question, said]) => [
    own.get(question) ?? question,
    own.get(said) ?? said,
  ])
  return { ...answer, answers: Object.fromEntries(answers) }
}

/** An answer is stored only once, so one that does not fit the question is refused. */
function checkFits(ask: QuestionRecord['ask'], answer: Omit<ToolResult, 'toolUseId'>): void {
  if (ask.type === 'permission-ask') {
    if (answer.decision !== undefined) return
    throw new RepriseError(
      'bad-request',
      `${ask.toolUseId} is a permission request: expected decision "allow" or "deny"`,
    )
  }
  if (answer.decision === 'deny') return
  const asked = ask.questions.map(({ question }) => question)
  const given = Object.keys(answer.answers ?? {})
  if (
    given.length > 0 &&
    given.every((text) => asked.includes(text)) &&
    asked.every((text) => given.includes(text))
  )
    return
  throw new RepriseError(
    'bad-request',
    `${ask.toolUseId} is a question: expected answers to each of its questions, by their text`,
    {
      hint: `Asked: ${asked.map((text) => JSON.stringify(text)).join(', ')}. Or decision "deny" to refuse to answer.`,
      details: { asked },
    },
  )
}
