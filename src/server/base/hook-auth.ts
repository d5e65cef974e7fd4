/**
 * Who may send events to a watch: whoever shows the daemon's token, or the watch's own secret, which is good for nothing
 * else. Of the secret's forms each sender knows one: a bearer token or the password of basic authentication, as in
 * Alertmanager and Grafana, or a signature of the body, as GitHub makes it (`X-Hub-Signature-256`).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { digest } from './guards.ts'

export interface ShownAtHook {
  /** The watch's own; null: it has none, and only the token is good. */
  secret: string | null
  token: string
  /** The headers, as they came. */
  authorization: string | null
  signature: string | null
  body: Uint8Array
}

/** One of those shown must be right. How long it takes says nothing about what would be. */
export function checkHook(shown: ShownAtHook): 'ok' | 'missing' | 'wrong' {
  const answers = [checkAuthorization(shown), checkSignature(shown)].filter((right) => right !== null)
  if (answers.length === 0) return 'missing'
  return answers.includes(true) ? 'ok' : 'wrong'
}

/** null: nothing was shown that could be right. */
function checkAuthorization({ authorization, token, secret }: ShownAtHook): boolean | null {
  const [, scheme, credentials] = /^(Bearer|Basic) +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (scheme === undefined || credentials === undefined) return null
  if (scheme.toLowerCase() === 'basic') return isSame(passwordIn(credentials), secret)
  const [isToken, isSecret] = [isSame(credentials, token), isSame(credentials, secret)]
  return isToken || isSecret
}

/** The name before it is of no interest. */
function passwordIn(credentials: string): string {
  const pair = Buffer.from(credentials, 'base64').toString()
  const colon = pair.indexOf(':')
  return colon === -1 ? '' : pair.slice(colon + 1)
}

function checkSignature({ signature, secret, body }: ShownAtHook): boolean | null {
  if (signature === null) return null
  const expected = secret && `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return isSame(signature.trim().toLowerCase(), expected)
}

/** Nothing is the same as what there is none of, not even an empty text. */
function isSame(shown: string, expected: string | null): boolean {
  const same = timingSafeEqual(digest(shown), digest(expected ?? ''))
  return same && expected !== null && expected !== ''
}
