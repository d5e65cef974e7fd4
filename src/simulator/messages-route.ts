/**
 * `POST /v1/messages` and `/v1/messages/count_tokens`: reads the request, finds the script that answers it, plays it,
 * and keeps the record.
 *
 * The script is the rest of a reply that waits for these tool results; else the first rule that matches; else, for a
 * side request of the CLI, a built-in answer; else an error that names the scenario, so that a gap in a script is
 * noticed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { apiError, overflowError } from './api-error.ts'
import { newId } from './ids.ts'
import { chooseRule, contextWindowOf } from './match.ts'
import type { MessagesBody } from './messages-body.ts'
import { messagesBodySchema } from './messages-body.ts'
import type { MessagesRequest } from './messages-request.ts'
import { readMessagesRequest } from './messages-request.ts'
import { play } from './player.ts'
import { countTokens, promptBlocks } from './prompt-blocks.ts'
import { createReplyWriter, sendError, sendJson } from './reply-writer.ts'
import { newRecord, toUsage } from './request-record.ts'
import { sideReply } from './side-reply.ts'
import type { Script, SimulatorState } from './state.ts'
import { createFill } from './template.ts'

const MAX_BREAKPOINTS = 4

export async function answerMessages(
  state: SimulatorState,
  path: 'messages' | 'count',
  incoming: IncomingMessage,
  body: string,
  response: ServerResponse,
): Promise<void> {
  const requestId = newId('req')
  const parsed = parseBody(body)
  if (typeof parsed === 'string') return sendError(response, apiError(400, parsed), requestId)
  const request = readMessagesRequest(parsed, incoming.headers)
  const blocks = promptBlocks(parsed)
  const promptTokens = countTokens(blocks)
  const at = new Date(state.now())
  const bodyBytes = Buffer.byteLength(body)
  const record = newRecord(
    state.recorder.nextNumber(),
    at,
    path,
    incoming.headers,
    request,
    bodyBytes,
    blocks,
  )
  state.recorder.add(record)

  if (path === 'count') {
    state.recorder.update(record, { status: 200, outcome: 'answered' })
    return sendJson(response, 200, { input_tokens: promptTokens }, { 'request-id': requestId })
  }
  const refuse = (status: number, message: string, error = apiError(status, message)) => {
    state.recorder.update(record, { status, outcome: 'failed' })
    sendError(response, error, requestId)
  }
  const breakpoints = blocks.filter((part) => part.breakpoint).length
  if (breakpoints > MAX_BREAKPOINTS) {
    return refuse(400, `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints}.`)
  }
  const { scenario } = state
  const contextWindow = contextWindowOf(scenario, parsed.model)
  if (contextWindow !== undefined && promptTokens > contextWindow) {
    return refuse(400, '', overflowError(promptTokens, contextWindow))
  }
  const script = findScript(state, request)
  if (!script) {
    const about = request.startsTurn
      ? `user text ${quote(request.userText)}`
      : `tool results ${quote(request.toolResults.map((r) => r.text).join())}`
    return refuse(
      400,
      `Simulator: no rule of scenario "${scenario.name}" matches this ${request.kind} request with ${about}`,
    )
  }
  state.recorder.update(record, { rule: script.name })

  const gone = new AbortController()
  if (response.destroyed) gone.abort()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const writer = createReplyWriter(response, requestId, record.stream)
  try {
    const played = await play(script.steps, {
      writer,
      model: parsed.model,
      fill: createFill(request, script.captures, record.n),
      signal: gone.signal,
      now: state.now,
      charge: () => {
        const usage = toUsage(state.cache.use(parsed.model, blocks, scenario.minCacheTokens, state.now()))
        state.recorder.update(record, { status: 200, usage })
        return usage
      },
      promptTokens,
      contextWindow,
      spend: (failure) => state.spend(failure),
      hold: async (name) => {
        const released = state.holds.wait(name, gone.signal)
        state.recorder.update(record, { heldAt: name })
        await released.finally(() => state.recorder.update(record, { heldAt: undefined }))
      },
    })
    // A scripted break after which the reply continues is not a complete firing: the client's retry must find the rule
    // again.
    if (played.goesOn && script.rule) state.countFiring(script.rule, -1)
    if (played.rest.length > 0) {
      const next = { ...script, steps: played.rest }
      if (played.outcome !== 'answered') state.keepRest(cutKey(request), next)
      else for (const id of played.toolUseIds) state.keepRest(id, { ...next, rule: undefined })
    }
    const { outcome, status, usage } = played
    state.recorder.update(record, { outcome, status, usage })
  } catch (error) {
    state.recorder.update(record, { outcome: gone.signal.aborted ? 'clientGone' : 'failed' })
    if (!gone.signal.aborted) throw error
  }
}

function findScript(state: SimulatorState, request: MessagesRequest): Script | undefined {
  if (request.kind === 'main') {
    const keys = request.startsTurn ? [] : request.toolResults.map((result) => result.toolUseId)
    if (request.resumesCut) keys.push(cutKey(request))
    const rest = keys.map((key) => state.restOf(key)).find((script) => script !== undefined)
    if (rest?.rule) state.countFiring(rest.rule, 1)
    if (rest) return rest
  }
  const match = chooseRule(state.scenario, request, state.fired)
  if (match) {
    state.countFiring(match.rule, 1)
    return { name: match.rule.name, rule: match.rule, steps: match.rule.reply, captures: match.captures }
  }
  if (request.kind === 'main') return undefined
  return {
    name: `built-in ${request.kind}`,
    rule: undefined,
    steps: sideReply(request),
    captures: { numbered: [], named: {} },
  }
}

/** A reply that broke off is continued in the same session for the same prompt. */
function cutKey(request: MessagesRequest): string {
  return `cut ${request.sessionId} ${request.userText}`
}

function parseBody(text: string): MessagesBody | string {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'The request body is not valid JSON.'
  }
  const parsed = messagesBodySchema.safeParse(json)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid request'}`
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 120))
}
