/**
 * Answers the agent's permission requests and questions with the caller's `canUseTool`.
 *
 * A request appears twice: as a line of the agent's output, which has all its details, and as a stored event, from when
 * on it can be answered. The callback is called once both are there. A request that the agent withdraws aborts the
 * callback's signal; its answer is then ignored.
 */
import type { RunId } from '../contract/ids.ts'
import type { ToolResult } from '../contract/question.ts'
import type { Engine } from '../engine/api.ts'
import type { QueryStep } from '../engine/queries/api.ts'

export interface CanUseToolOptions {
  signal: AbortSignal
  toolUseID: string
  requestId: string
  suggestions?: unknown[]
  blockedPath?: string
  decisionReason?: string
  title?: string
  displayName?: string
  description?: string
  agentID?: string
  mcpServer?: { name: string; source: string }
}

export type PermissionResult =
  | {
      behavior: 'allow'
      updatedInput?: Record<string, unknown>
      updatedPermissions?: unknown[]
      toolUseID?: string
    }
  | { behavior: 'deny'; message: string; interrupt?: boolean; toolUseID?: string }

/** As the Agent SDK's callback of the same name. */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: CanUseToolOptions,
) => Promise<PermissionResult> | PermissionResult

type Ask = Extract<QueryStep['body'], { type: 'permission-ask' | 'question-ask' }>
type Request = Readonly<Record<string, unknown>>

const NOBODY: CanUseTool = () => ({ behavior: 'deny', message: 'Nobody is there to answer.' })

export class Asks {
  readonly #engine: Pick<Engine, 'answer'>
  readonly #runId: RunId
  readonly #canUseTool: CanUseTool
  readonly #asked = new Map<string, Ask>()
  readonly #requests = new Map<string, Request>()
  readonly #open = new Map<string, AbortController>()

  constructor(engine: Pick<Engine, 'answer'>, runId: RunId, canUseTool: CanUseTool | null) {
    this.#engine = engine
    this.#runId = runId
    this.#canUseTool = canUseTool ?? NOBODY
  }

  /** The request can be answered now. */
  noteAsk(ask: Ask): void {
    this.#asked.set(ask.requestId, ask)
    this.#consider(ask.requestId)
  }

  noteRequest(requestId: string, request: Request): void {
    if (request.subtype !== 'can_use_tool') return
    this.#requests.set(requestId, request)
    this.#consider(requestId)
  }

  cancel(requestId: string): void {
    this.#open.get(requestId)?.abort()
    this.#asked.delete(requestId)
  }

  /** Withdraws all requests. */
  close(): void {
    for (const requestId of [...this.#open.keys()]) this.cancel(requestId)
  }

  #consider(requestId: string): void {
    const ask = this.#asked.get(requestId)
    const request = this.#requests.get(requestId)
    if (!ask || !request) return
    this.#asked.delete(requestId)
    this.#requests.delete(requestId)
    const controller = new AbortController()
    this.#open.set(requestId, controller)
    void this.#decide(ask, request, controller.signal).finally(() => this.#open.delete(requestId))
  }

  async #decide(ask: Ask, request: Request, signal: AbortSignal): Promise<void> {
    let answer: Omit<ToolResult, 'toolUseId'>
    try {
      const input = isRecord(request.input) ? request.input : {}
      const options = optionsOf(ask, request, signal)
      answer = toAnswer(ask, await this.#canUseTool(String(request.tool_name), input, options))
    } catch (error) {
      answer = {
        decision: 'deny',
        message: `The permission callback failed: ${String(error)}`.slice(0, 10_000),
      }
    }
    if (signal.aborted) return
    // The run may have ended meanwhile; then nobody waits for the answer.
    await this.#engine.answer(this.#runId, { toolUseId: ask.toolUseId, ...answer }).catch(() => {})
  }
}

function optionsOf(ask: Ask, request: Request, signal: AbortSignal): CanUseToolOptions {
  const { toolUseId: toolUseID, requestId } = ask
  const named = {
    suggestions: request.permission_suggestions,
    blockedPath: request.blocked_path,
    decisionReason: request.decision_reason,
    title: request.title,
    displayName: request.display_name,
    description: request.description,
    agentID: request.agent_id,
    mcpServer: request.mcp_server,
  }
  const known = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
  return { signal, ...known, toolUseID, requestId }
}

function toAnswer(ask: Ask, result: PermissionResult): Omit<ToolResult, 'toolUseId'> {
  if (!isRecord(result) || (result.behavior !== 'allow' && result.behavior !== 'deny')) {
    throw new Error('canUseTool must return { behavior: "allow" } or { behavior: "deny", message }')
  }
  if (result.behavior === 'deny') {
    const native = result.interrupt === true ? { native: { interrupt: true } } : {}
    return { decision: 'deny', message: String(result.message).slice(0, 10_000), ...native }
  }
  const { updatedInput, updatedPermissions } = result
  if (ask.type === 'question-ask') {
    const answers = isRecord(updatedInput?.answers) ? updatedInput.answers : {}
    const texts = Object.entries(answers).map(([question, answer]) => [question, String(answer)])
    if (texts.length === 0) return { decision: 'deny', message: 'The question was not answered.' }
    return { answers: Object.fromEntries(texts) }
  }
  return {
    decision: 'allow',
    ...(updatedInput ? { updatedInput } : {}),
    ...(updatedPermissions ? { native: { updatedPermissions } } : {}),
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
