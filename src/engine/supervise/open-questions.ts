/**
 * The open questions of one attempt's agent.
 *
 * asked → answered (stored, then delivered, perhaps more than once) → closed by the agent: its tool ended, or it
 * withdrew the question. Questions that the permissions of the run decide are answered at once; the others wait for a
 * person.
 */
import type { AgentAdapter } from '../../agents/adapter.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Clock } from '../../core/clock.ts'
import { type AskDecision, decideAsk } from '../../core/permission/decide.ts'
import { nameOfCall } from '../../core/permission/same-call.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { AttemptRecord, QuestionRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { Persist } from '../base/persist.ts'
import type { Processes } from '../base/processes.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { Purposes } from '../base/purposes.ts'

export interface OpenQuestionsDeps {
  store: Pick<Store, 'listQuestions' | 'answerQuestion' | 'isCallAllowed'>
  purposes: Pick<Purposes, 'of'>
  clock: Clock
  log: Log
  bus: Pick<ProgressBus, 'publish'>
  persist: Persist
  processes: Pick<Processes, 'deliver'>
}

export interface OpenQuestionsInput {
  run: RunRecord
  attempt: AttemptRecord
  adapter: Pick<AgentAdapter, 'answer'>
  dir: AttemptDir
}

const SETTLED_QUESTION: readonly string[] = ['run-settled', 'question-answered']

export class OpenQuestions {
  readonly #deps: OpenQuestionsDeps
  readonly #in: OpenQuestionsInput
  readonly #onChange: () => void
  #open: QuestionRecord[] = []

  constructor(deps: OpenQuestionsDeps, input: OpenQuestionsInput, onChange: () => void) {
    this.#deps = deps
    this.#in = input
    this.#onChange = onChange
  }

  /** The oldest question without an answer. */
  get oldestOpen(): string | null {
    return this.#open.find((question) => question.answer === null)?.ask.requestId ?? null
  }

  /** Continues where an earlier daemon stopped. */
  async catchUp(): Promise<void> {
    const asked = await this.#deps.store.listQuestions(this.#in.attempt.id)
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

  /** Removes questions whose answer the agent no longer waits for. */
  close(isIt: (ask: QuestionRecord['ask']) => boolean): void {
    this.#open = this.#open.filter(({ ask }) => !isIt(ask))
    this.#onChange()
  }

  /** Sends a stored answer to the agent. */
  async deliverAnswer(question: QuestionRecord): Promise<void> {
    if (question.answer === null) return
    const { adapter, dir } = this.#in
    const message = adapter.answer(question.ask, question.answer)
    await this.#deps.persist(() => this.#deps.processes.deliver(dir, message))
    this.#open = this.#open.map((q) => (q.ask.requestId === question.ask.requestId ? question : q))
    this.#onChange()
  }

  /** A person has allowed the same call before. */
  async #remembered(ask: QuestionRecord['ask']): Promise<AskDecision | null> {
    if (ask.type !== 'permission-ask') return null
    const allowed = await this.#deps.store.isCallAllowed(this.#in.attempt.sessionId, nameOfCall(ask))
    return allowed ? { kind: 'allow', reason: 'a person allowed it for this session' } : null
  }

  async #consider({ ask }: QuestionRecord): Promise<void> {
    const { run } = this.#in
    const { store, clock, bus, log, purposes } = this.#deps
    const decision = (await this.#remembered(ask)) ?? decideAsk(run.request.permissions, ask)
    if (decision.kind === 'wait') {
      await purposes
        .of(run)
        .tellOfQuestion(run, ask)
        .catch((error: unknown) =>
          log.error({ run: run.id, error: String(error) }, 'could not notify people of a question'),
        )
      return
    }
    const answer = { toolUseId: ask.toolUseId, decision: decision.kind, message: decision.reason }
    try {
      const question = await store.answerQuestion(run.id, answer, 'policy', clock.now())
      bus.publish(run.id)
      await this.deliverAnswer(question)
    } catch (error) {
      // The agent may have continued meanwhile, or a person may have answered: then no answer is needed.
      if (!(error instanceof RepriseError) || !SETTLED_QUESTION.includes(error.code)) throw error
    }
  }
}
