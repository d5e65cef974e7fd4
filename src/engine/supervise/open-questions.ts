/**
 * What an agent has asked and not been told yet, of one attempt.
 *
 * asked → answered (stored, then delivered, perhaps more than once) → closed by the agent: its tool ended, or it took
 * the question back. What policy may answer is answered at once; the rest waits for a person.
 */
import type { AgentAdapter } from '../../agents/adapter.ts'
import { RepriseError } from '../../contract/errors.ts'
import { decideAsk } from '../../core/permission/decide.ts'
import { type AttemptDir, deliver } from '../../process/attempt-dir.ts'
import type { AttemptRecord, QuestionRecord, RunRecord } from '../../store/base/records.ts'
import { persist } from '../base/persist.ts'
import { tellOfQuestion } from '../jobs/tell.ts'
import type { EngineParts } from '../parts.ts'

export interface OpenQuestionsInput {
  run: RunRecord
  attempt: AttemptRecord
  adapter: Pick<AgentAdapter, 'answer'>
  dir: AttemptDir
}

const SETTLED_QUESTION: readonly string[] = ['run-settled', 'question-answered']

export class OpenQuestions {
  readonly #parts: EngineParts
  readonly #in: OpenQuestionsInput
  readonly #onChange: () => void
  #open: QuestionRecord[] = []

  constructor(parts: EngineParts, input: OpenQuestionsInput, onChange: () => void) {
    this.#parts = parts
    this.#in = input
    this.#onChange = onChange
  }

  /** The oldest question for whose answer the agent waits. */
  get oldestOpen(): string | null {
    return this.#open.find((question) => question.answer === null)?.ask.requestId ?? null
  }

  /** Goes on where a daemon before us left off. */
  async catchUp(): Promise<void> {
    const asked = await this.#parts.store.listQuestions(this.#in.attempt.id)
    this.#open = asked.filter((question) => question.closedAt === null)
    for (const question of [...this.#open]) {
      if (question.answer === null) await this.#consider(question)
      else await this.deliverAnswer(question)
    }
  }

  async add(ask: QuestionRecord['ask'], askedAt: Date): Promise<void> {
    const { id: attemptId, runId } = this.#in.attempt
    const question = { attemptId, runId, ask, askedAt, answer: null, answeredAt: null, closedAt: null }
    this.#open.push(question)
    await this.#consider(question)
    this.#onChange()
  }

  /** The agent no longer waits for it. */
  close(isIt: (ask: QuestionRecord['ask']) => boolean): void {
    this.#open = this.#open.filter(({ ask }) => !isIt(ask))
    this.#onChange()
  }

  /** Hands a stored answer to the agent. */
  async deliverAnswer(question: QuestionRecord): Promise<void> {
    if (question.answer === null) return
    const { adapter, dir } = this.#in
    const message = adapter.answer(question.ask, question.answer)
    await persist(this.#parts, () => deliver(dir, message))
    this.#open = this.#open.map((q) => (q.ask.requestId === question.ask.requestId ? question : q))
    this.#onChange()
  }

  async #consider({ ask }: QuestionRecord): Promise<void> {
    const { run } = this.#in
    const decision = decideAsk(run.request.permissions, ask)
    if (decision.kind === 'wait') {
      await tellOfQuestion(this.#parts, run, ask).catch((error) =>
        this.#parts.log.error({ run: run.id, error: String(error) }, 'nobody was told of a question'),
      )
      return
    }
    const { store, clock, bus } = this.#parts
    const answer = { toolUseId: ask.toolUseId, decision: decision.kind, message: decision.reason }
    try {
      const question = await store.answerQuestion(run.id, answer, 'policy', clock.now())
      bus.publish(run.id)
      await this.deliverAnswer(question)
    } catch (error) {
      // The agent may have gone on meanwhile, or a person been quicker: then there is nothing left to answer.
      if (!(error instanceof RepriseError) || !SETTLED_QUESTION.includes(error.code)) throw error
    }
  }
}
