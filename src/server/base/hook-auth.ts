/**
 * Authenticates senders of events to a watch. They send the daemon's token, or the watch's own secret, which allows
 * nothing else. The secret comes as a bearer token or as the password of basic authentication (Alertmanager, Grafana),
 * or as a signature of the body (`X-Hub-Signature-256`, GitHub).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { RepriseError } from '../../contract/errors.ts'
import { digest } from './guards.ts'

export const SIGNATURE_HEADER = 'x-hub-signature-256'

export interface ShownAtHook {
  /** The secret of the watch; null: it has none, and only the token is accepted. */
  secret: string | null
  token: string
  /** The headers as they were sent. */
  authorization: string | null
  signature: string | null
  body: Uint8Array
}

/** One of the credentials must be right. The comparison takes the same time for any input. */
export function checkHook(shown: ShownAtHook): 'ok' | 'missing' | 'wrong' {
  const answers = [checkAuthorization(shown), checkSignature(shown)].filter((right) => right !== null)
  if (answers.length === 0) return 'missing'
  return answers.includes(true) ? 'ok' : 'wrong'
}

/** null: there are no credentials of this kind. */
function checkAuthorization({ authorization, token, secret }: ShownAtHook): boolean | null {
  const [, scheme, credentials] = /^(Bearer|Basic) +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (scheme === undefined || credentials === undefined) return null
  if (scheme.toLowerCase() === 'basic') return isSame(passwordIn(credentials), secret)
  const [isToken, isSecret] = [isSame(credentials, token), isSame(credentials, secret)]
  return isToken || isSecret
}

/** The user name is ignored. */
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

/** A missing or empty secret equals nothing, not even an empty text. */
function isSame(shown: string, expected: string | null): boolean {
  const same = timingSafeEqual(digest(shown), digest(expected ?? ''))
  return same && expected !== null && expected !== ''
}

/** A request without any credentials is refused before its body is read. */
export const refuseWithoutCredentials: MiddlewareHandler = async (c, next) => {
  if (!c.req.header('authorization') && !c.req.header(SIGNATURE_HEADER)) throw unauthorizedHook(c, 'missing')
  await next()
}

export function unauthorizedHook(c: Context, shown: 'missing' | 'wrong'): RepriseError {
  c.header('WWW-Authenticate', 'Bearer realm="reprise"')
  return new RepriseError(
    'unauthorized',
    shown === 'missing' ? 'the secret is missing' : 'the secret is wrong, or there is no such watch',
    {
      hint: "Send the watch's hookSecret: as bearer token, as password of basic authentication, or sign the body with it (X-Hub-Signature-256).",
    },
  )
}
