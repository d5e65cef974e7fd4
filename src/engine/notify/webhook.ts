/** Sends one webhook by POST. Only the status of the response is used; the body is not read. */
import { createHmac } from 'node:crypto'
import type { TryResult } from '../../core/notify/retry.ts'
import type { Webhook } from '../../core/notify/target.ts'
import { ForbiddenAddress } from './addresses.ts'
import { type PostOptions, post } from './post.ts'

export interface WebhookParts extends PostOptions {
  userAgent: string
  timeoutMs: number
}

export interface WebhookMessage {
  id: string
  event: string
  body: string
}

/** Returns null if the request was aborted before its result was known. */
export async function postWebhook(
  { userAgent, timeoutMs, ...options }: WebhookParts,
  hook: Webhook,
  { id, event, body }: WebhookMessage,
  abort: AbortSignal,
): Promise<TryResult | null> {
  const { url, authorization } = splitCredentials(hook.url)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  try {
    const sent = {
      url,
      body,
      headers: {
        ...authorization,
        ...hook.headers,
        'content-type': 'application/json',
        'user-agent': userAgent,
        'x-reprise-event': event,
        'x-reprise-delivery': id,
        ...(hook.secret === null ? {} : { 'x-reprise-signature': sign(body, hook.secret) }),
      },
      signal: AbortSignal.any([late.signal, abort]),
    }
    return judge(await post(sent, options))
  } catch (error) {
    if (abort.aborted) return null
    if (error instanceof ForbiddenAddress) return { kind: 'refused', reason: error.message }
    if (late.signal.aborted) return { kind: 'failed', reason: `no answer within ${timeoutMs / 1000} s` }
    return { kind: 'failed', reason: explain(error) }
  } finally {
    clearTimeout(timer)
  }
}

const GONE = 410

function judge(status: number): TryResult {
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === GONE) return { kind: 'refused', reason: 'answered 410 (gone)' }
  if (status >= 300 && status < 400) {
    return { kind: 'failed', reason: `answered ${status}: redirects are not followed` }
  }
  return { kind: 'failed', reason: `answered ${status}` }
}

function sign(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** The password becomes a header, so that no error message can repeat it. */
function splitCredentials(address: string): { url: string; authorization: Record<string, string> } {
  const url = new URL(address)
  const { username, password } = url
  if (username === '' && password === '') return { url: address, authorization: {} }
  url.username = ''
  url.password = ''
  const pair = `${decode(username)}:${decode(password)}`
  return {
    url: url.href,
    authorization: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
  }
}

/** Decodes percent encoding. A text that is not valid percent encoding is used unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The message names at most host and port. If several addresses were tried, the first one's error is used. */
function explain(error: unknown): string {
  const { errors: [first] = [error] } = error as { errors?: unknown[] }
  const { message, code } = first as { message?: string; code?: string }
  return message || code || 'could not be sent'
}
