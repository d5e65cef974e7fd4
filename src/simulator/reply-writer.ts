/**
 * Writes one reply, either as server-sent events exactly as the Messages API streams them, or as one JSON document.
 * Both take the same calls: `start`, then for each block `open`, `delta`…, `close`, then `end`. An error before `start`
 * is an HTTP error; after it, it is an `error` event in the stream, as with the real API.
 */
import type { ServerResponse } from 'node:http'
import type { ApiError } from './api-error.ts'
import { errorBody } from './api-error.ts'
import type { Usage } from './request-record.ts'
import type { StopReason } from './scenario-types.ts'

export type ReplyBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }

export type Delta =
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'input_json_delta'; partial_json: string }

export interface ReplyHead {
  id: string
  model: string
  usage: Usage
}

export interface ReplyWriter {
  readonly started: boolean
  start(head: ReplyHead): void
  /** The block at its beginning: text and input are empty and come as deltas. */
  open(block: ReplyBlock): void
  delta(delta: Delta): void
  close(): void
  end(stopReason: StopReason, usage: Usage): void
  fail(error: ApiError): void
  /** Breaks the connection after the written data was sent. */
  cut(): Promise<void>
}

export function createReplyWriter(response: ServerResponse, requestId: string, stream: boolean): ReplyWriter {
  return stream ? new StreamWriter(response, requestId) : new DocumentWriter(response, requestId)
}

export function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  sendJson(response, error.status, errorBody(error, requestId), { ...error.headers, 'request-id': requestId })
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

function messageOf(
  head: ReplyHead,
  content: ReplyBlock[],
  stopReason: StopReason | null,
  usage: Usage,
): object {
  return {
    id: head.id,
    type: 'message',
    role: 'assistant',
    model: head.model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { ...usage, service_tier: 'standard' },
  }
}

class StreamWriter implements ReplyWriter {
  started = false
  #index = -1
  #flushed: Promise<unknown> = Promise.resolve()
  readonly #response: ServerResponse
  readonly #requestId: string

  constructor(response: ServerResponse, requestId: string) {
    this.#response = response
    this.#requestId = requestId
  }

  start(head: ReplyHead): void {
    this.started = true
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'request-id': this.#requestId,
    })
    this.#event('message_start', { message: messageOf(head, [], null, { ...head.usage, output_tokens: 1 }) })
  }

  open(block: ReplyBlock): void {
    this.#index++
    this.#event('content_block_start', { index: this.#index, content_block: block })
    if (this.#index === 0) this.#event('ping', {})
  }

  delta(delta: Delta): void {
    this.#event('content_block_delta', { index: this.#index, delta })
  }

  close(): void {
    this.#event('content_block_stop', { index: this.#index })
  }

  end(stopReason: StopReason, usage: Usage): void {
    this.#event('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage })
    this.#event('message_stop', {})
    this.#response.end()
  }

  fail(error: ApiError): void {
    if (this.started) {
      this.#event('error', errorBody(error, this.#requestId))
      this.#response.end()
    } else {
      sendError(this.#response, error, this.#requestId)
    }
  }

  async cut(): Promise<void> {
    await this.#flushed
    this.#response.destroy()
  }

  #event(type: string, data: object): void {
    this.#flushed = new Promise((resolve) => {
      this.#response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`, resolve)
    })
  }
}

class DocumentWriter implements ReplyWriter {
  started = false
  #head: ReplyHead | undefined
  #partialJson = ''
  readonly #content: ReplyBlock[] = []
  readonly #response: ServerResponse
  readonly #requestId: string

  constructor(response: ServerResponse, requestId: string) {
    this.#response = response
    this.#requestId = requestId
  }

  start(head: ReplyHead): void {
    this.started = true
    this.#head = head
  }

  open(block: ReplyBlock): void {
    this.#partialJson = ''
    this.#content.push({ ...block })
  }

  delta(delta: Delta): void {
    const block = this.#content.at(-1)
    if (delta.type === 'text_delta' && block?.type === 'text') block.text += delta.text
    if (delta.type === 'thinking_delta' && block?.type === 'thinking') block.thinking += delta.thinking
    if (delta.type === 'signature_delta' && block?.type === 'thinking') block.signature += delta.signature
    if (delta.type === 'input_json_delta') this.#partialJson += delta.partial_json
  }

  close(): void {
    const block = this.#content.at(-1)
    if (block?.type === 'tool_use') block.input = JSON.parse(this.#partialJson || '{}')
  }

  end(stopReason: StopReason, usage: Usage): void {
    if (!this.#head) throw new Error('end() before start()')
    const headers = { 'request-id': this.#requestId }
    sendJson(this.#response, 200, messageOf(this.#head, this.#content, stopReason, usage), headers)
  }

  fail(error: ApiError): void {
    sendError(this.#response, error, this.#requestId)
  }

  async cut(): Promise<void> {
    this.#response.destroy()
  }
}
