/**
 * The program of an agent that lives in memory: an async function that prints events, asks, waits and ends. What it returns is
 * its exit code; one that never returns hangs until it is ended.
 */
import { randomUUID } from 'node:crypto'
import type { PlanInput, ToolAnswer } from '../../../src/agents/adapter.ts'
import type { EventBody, EventOf } from '../../../src/contract/events.ts'
import type { Outcome } from '../../../src/contract/outcome.ts'
import type { MemoryTranscripts } from './transcripts.ts'

/** What the agent was started with, as the adapter wrote it into its arguments. */
export type Start = Omit<PlanInput, 'runtime' | 'decision' | 'prompt'> & {
  resume: boolean
  /** Empty: it was started ahead of its first prompt. */
  prompt: readonly string[]
}

/** A line that an agent reads from its input. */
export type InputLine =
  | { type: 'prompt'; id: string; texts: readonly string[] }
  | { type: 'answer'; requestId: string; answer: ToolAnswer }
  | { type: 'reminder'; requestId: string; texts: readonly string[] }
  | { type: 'stop'; cause: string }

export type Script = (agent: ScriptedAgent) => Promise<number | undefined>

/** The process that a script runs in. */
export interface ScriptHost {
  print: (text: string) => void
  complain: (text: string) => void
  /** The next line of its input; null: it was closed. */
  nextLine: () => Promise<string | null>
  ignoreTerm: () => void
  leaveStray: () => void
}

interface Result {
  outcome?: Outcome
  structured?: unknown
  costUsd?: number
}

const COMPLETED: Outcome = { name: 'completed', message: 'completed' }

export class ScriptedAgent {
  readonly start: Start
  readonly #host: ScriptHost
  readonly #transcripts: MemoryTranscripts

  constructor(start: Start, host: ScriptHost, transcripts: MemoryTranscripts) {
    this.start = start
    this.#host = host
    this.#transcripts = transcripts
  }

  print(...events: EventBody[]): void {
    const { agentSessionId: session_id } = this.start
    for (const event of events) this.#host.print(`${JSON.stringify({ ...event, session_id })}\n`)
  }

  /** Prints a text as it is: half a line, or no JSON at all. */
  printText(text: string): void {
    this.#host.print(text)
  }

  complain(text: string): void {
    this.#host.complain(text)
  }

  /** Does not end when it is told to, only when it is killed. */
  ignoreStop(): void {
    this.#host.ignoreTerm()
  }

  /** Leaves a process behind. */
  leaveStray(): void {
    this.#host.leaveStray()
  }

  async next(): Promise<InputLine | null> {
    const line = await this.#host.nextLine()
    return line === null ? null : JSON.parse(line)
  }

  /** Announces its session, takes a prompt and calls the model. Returns the texts of the prompt; null: there is none. */
  async begin(): Promise<readonly string[] | null> {
    this.print({ type: 'session-start', agentSessionId: this.start.agentSessionId })
    const texts = await this.takePrompt()
    if (texts) this.callModel()
    return texts
  }

  async takePrompt(): Promise<readonly string[] | null> {
    for (let line = await this.next(); line !== null; line = await this.next()) {
      if (line.type !== 'prompt') continue
      this.#transcripts.record(this.start.agentSessionId, line.id)
      this.print({ type: 'prompt-accept', messageId: line.id })
      return line.texts
    }
    return null
  }

  callModel(outputTokens = 10): void {
    const usage = { inputTokens: 100, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 }
    this.print(
      { type: 'model-request' },
      { type: 'model-call', messageId: randomUUID(), model: 'memory-1', usage },
    )
  }

  /** Runs a tool to its end. */
  useTool(name: string, input: unknown, output: string): void {
    const toolUseId = randomUUID()
    this.print(
      { type: 'tool-start', toolUseId, name, input },
      { type: 'tool-end', toolUseId, isError: false, content: output },
    )
  }

  /** Compacts its session in the middle of a turn. Returns what it is reminded of; null: its input was closed. */
  async compact(): Promise<readonly string[] | null> {
    const requestId = randomUUID()
    this.print({ type: 'reminder-ask', requestId })
    for (let line = await this.next(); line !== null; line = await this.next()) {
      if (line.type !== 'reminder' || line.requestId !== requestId) continue
      this.print({ type: 'compaction' })
      return line.texts
    }
    return null
  }

  /** Asks whether it may use a tool, and waits for the answer; null: its input was closed. */
  ask(tool: string, input: unknown, via: EventOf<'permission-ask'>['via'] = 'prompt') {
    const [requestId, toolUseId] = [randomUUID(), randomUUID()]
    this.print({ type: 'tool-start', toolUseId, name: tool, input })
    this.print({ type: 'permission-ask', requestId, toolUseId, tool, input, via })
    return this.#answerTo(requestId, toolUseId)
  }

  askUser(question: string, ...labels: string[]) {
    const [requestId, toolUseId] = [randomUUID(), randomUUID()]
    const questions = [{ question, options: labels.map((label) => ({ label })) }]
    this.print({ type: 'tool-start', toolUseId, name: 'Ask', input: { questions: [question] } })
    this.print({ type: 'question-ask', requestId, toolUseId, questions })
    return this.#answerTo(requestId, toolUseId)
  }

  async #answerTo(requestId: string, toolUseId: string): Promise<ToolAnswer | null> {
    for (let line = await this.next(); line !== null; line = await this.next()) {
      if (line.type !== 'answer' || line.requestId !== requestId) continue
      const { decision, answers = {} } = line.answer
      const content = Object.entries(answers).map(([question, answer]) => `${question} ${answer}`)
      this.print({ type: 'tool-end', toolUseId, isError: decision === 'deny', content: content.join('\n') })
      return line.answer
    }
    return null
  }

  /** Ends its turn. */
  finish(text: string, { outcome = COMPLETED, structured, costUsd }: Result = {}): void {
    const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 }
    this.print(
      { type: 'text-end', text },
      {
        type: 'turn-end',
        outcome,
        text,
        turns: 1,
        ...(structured === undefined ? {} : { structured }),
        ...(costUsd === undefined ? {} : { models: [{ model: 'memory-1', usage, costUsd }] }),
      },
    )
  }

  /** Waits until its input is closed, and ends as an agent that is told to leave. */
  async leave(): Promise<number> {
    while ((await this.next()) !== null);
    return 0
  }
}

/** Answers one prompt. */
export const answers =
  (text: string, result: Result = {}): Script =>
  async (agent) => {
    await agent.begin()
    agent.finish(text, result)
    return agent.leave()
  }

/** Answers every prompt that it is given with "to" and the prompt, until it is told to leave. */
export const answersAll: Script = async (agent) => {
  for (let texts = await agent.takePrompt(); texts !== null; texts = await agent.takePrompt()) {
    agent.print({ type: 'session-start', agentSessionId: agent.start.agentSessionId })
    agent.callModel()
    agent.finish(`to ${texts.at(-1)}`, { costUsd: 1 })
  }
  return 0
}

/** Takes the prompt, calls the model, and ends without a result. */
export const dies =
  (exitCode: number): Script =>
  async (agent) => {
    await agent.begin()
    return exitCode
  }

/** Prints nothing and ends. */
export const exits =
  (exitCode: number, stderr = ''): Script =>
  async (agent) => {
    agent.complain(stderr)
    return exitCode
  }

/** Takes the prompt and then does nothing until it is ended. */
export const hangs: Script = async (agent) => {
  await agent.begin()
  return new Promise(() => {})
}

/** Is killed together with its keeper, so that nobody knows how it ended. */
export const KILLED = -1
