/** A plain Messages API client for the tests: sends requests and reads events. */
import type { Usage } from '../../src/simulator/request-record.ts'

export interface ContentBlock {
  type: string
  text?: string
  thinking?: string
  signature?: string
  id?: string
  name?: string
  input?: unknown
}

/** A message or an error, as the API answers. */
export interface Answer {
  type: string
  id: string
  content: ContentBlock[]
  stop_reason: string
  usage: Usage
  error: { type: string; message: string }
  request_id: string
}

export interface SseEvent {
  event: string
  data: {
    type: string
    index?: number
    message?: Answer
    content_block?: ContentBlock
    delta?: { type?: string; text?: string; partial_json?: string; stop_reason?: string }
    usage?: Usage
    error?: Answer['error']
  }
}

export interface BodyOptions {
  model?: string
  stream?: boolean
  system?: unknown
  tools?: unknown[]
  [key: string]: unknown
}

export function body(user: string | unknown[], options: BodyOptions = {}): object {
  const messages = typeof user === 'string' ? [{ role: 'user', content: user }] : user
  return { model: 'claude-test', max_tokens: 1024, messages, ...options }
}

export function post(url: string, payload: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'made-up', ...headers },
    body: JSON.stringify(payload),
  })
}

export async function ask(url: string, payload: object, headers?: Record<string, string>): Promise<Answer> {
  return (await post(url, payload, headers)).json() as Promise<Answer>
}

export function textIn(message: { content?: { text?: string }[] }): string {
  return (message.content ?? []).map((part) => part.text ?? '').join('')
}

export function parseEvents(stream: string): SseEvent[] {
  return stream
    .split('\n\n')
    .filter((chunk) => chunk.includes('data: '))
    .map((chunk) => {
      const [event = '', data = ''] = chunk.split('\n')
      return { event: event.replace('event: ', ''), data: JSON.parse(data.replace('data: ', '')) }
    })
}

/** Everything that arrives until the stream ends or breaks. */
export async function readUntilBroken(response: Response): Promise<{ text: string; broken: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true })
    return { text, broken: false }
  } catch {
    return { text, broken: true }
  }
}
