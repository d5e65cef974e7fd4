/**
 * Who made a request, and what their token allows. A request has a bearer token, or a browser's cookie together with
 * the key that only the daemon's own page knows; browsers send cookies to every port of a host, so the cookie alone is
 * not enough. That header also makes forged requests impossible: another page cannot send it.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { PAGE_KEY_HEADER, SCOPES, type Scope } from '../../contract/access.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { OperationId } from '../../contract/routes/paths.ts'
import type { RouteSpec } from '../../contract/routes/route.ts'
import type { Caller } from '../../engine/api.ts'
import type { Route } from './all-routes.ts'
import type { AppOptions } from './app-options.ts'
import { senderOf } from './forwarded.ts'
import { digest } from './guards.ts'
import { type Authenticate, setCaller } from './known-caller.ts'

/** One name per home, because browsers share cookies between all ports of a host. */
export const cookieName = (home: string) => `reprise_${digest(home).toString('hex').slice(0, 8)}`

/** Finds out who made a request, or throws `unauthorized`. */
export const createAuthenticate = (options: Pick<AppOptions, 'access' | 'token' | 'home'>): Authenticate =>
  options.access ? withAccess(options, options.access) : withToken(options.token)

/** Comes before the handler of an operation: the caller's token must have the scope that the operation needs. */
export function guardRoute(
  route: Route,
  authenticate: Authenticate,
  options: Pick<AppOptions, 'access' | 'log'>,
): MiddlewareHandler {
  // The operation is open to all, or checks its senders itself.
  if (route.spec.auth !== undefined) return (_, next) => next()
  return async (c, next) => {
    const caller = authenticate(c)
    setCaller(c, caller)
    requireScope(caller, scopeOf(route))
    await next()
    if (route.method !== 'GET' && c.res.ok) {
      // The operation is done; a record that cannot be written must not make it look failed.
      void record(options, c, route, caller).catch((error: unknown) =>
        options.log.error(
          { err: error, operation: route.id, who: caller.name },
          'could not record who did this',
        ),
      )
    }
  }
}

function withAccess(
  { home }: Pick<AppOptions, 'home'>,
  access: NonNullable<AppOptions['access']>,
): Authenticate {
  const name = cookieName(home)
  return (c) => {
    const bearer = bearerOf(c)
    const cookies = bearer === undefined ? cookiesOf(c, name) : []
    const pageKey = c.req.header(PAGE_KEY_HEADER)
    if (cookies.length > 0) refuseOtherSites(c)
    for (const cookie of cookies.length === 0 ? [undefined] : cookies) {
      const caller = access.authenticate({ bearer, cookie, pageKey }, senderOf(c).address)
      if (caller) return caller
    }
    throw unauthorized(c, bearer ?? (pageKey && cookies[0]))
  }
}

const MAX_COOKIES = 8

/**
 * All cookies of this name. A page on another port of the host can add one with a longer path, which browsers send
 * first; it must not sign anybody out.
 */
const cookiesOf = (c: Context, name: string): string[] =>
  (c.req.header('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, MAX_COOKIES)
    .map((pair) => pair.slice(name.length + 1))

const NEVER = new AbortController().signal

/** Without a store of tokens, there is the one token. */
function withToken(token: string): Authenticate {
  const expected = digest(token)
  return (c) => {
    const shown = bearerOf(c)
    if (shown === undefined || !timingSafeEqual(digest(shown), expected)) throw unauthorized(c, shown)
    return { tokenId: null, name: 'command line', scope: 'admin', kind: 'command-line', ended: NEVER }
  }
}

export const bearerOf = (c: Context): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1]

/** Another port of the same host is another site for us, though not for the browser's rules about cookies. */
function refuseOtherSites(c: Context): void {
  const site = c.req.header('sec-fetch-site')
  if (site === undefined || site === 'same-origin' || site === 'none') return
  throw new RepriseError('forbidden-origin', 'requests from other sites are refused', {
    hint: 'Only pages that the daemon itself serves may call it.',
  })
}

function unauthorized(c: Context, shown: string | undefined): RepriseError {
  c.header('WWW-Authenticate', 'Bearer realm="reprise"')
  return new RepriseError(
    'unauthorized',
    shown === undefined ? 'the token is missing' : 'the token is wrong',
    {
      hint: 'Send "Authorization: Bearer <token>"; the token is in the file `token` in the daemon\'s home ($REPRISE_HOME, by default ~/.reprise). For the dashboard: reprise open',
    },
  )
}

export const scopeOf = ({ method, spec }: { method: string; spec: RouteSpec }): Scope =>
  spec.scope ?? (method === 'GET' ? 'read' : 'act')

function requireScope(caller: Caller, needed: Scope): void {
  if (SCOPES.indexOf(caller.scope) >= SCOPES.indexOf(needed)) return
  throw new RepriseError(
    'forbidden',
    `the token ${JSON.stringify(caller.name)} allows ${caller.scope}, and this needs ${needed}`,
    { hint: `Use a token with the scope ${needed}: reprise token create NAME --scope ${needed}` },
  )
}

/** The details that the record has of a request besides its operation: the decision, or the name. */
const SUMMARIES: Partial<Readonly<Record<OperationId, (body: Record<string, unknown>) => unknown>>> = {
  answerRun: ({ decision, answers, remember }) =>
    remember ? `${decision} always` : (decision ?? Object.values(answers ?? {}).join(', ')),
  decideApproval: ({ decision }) => decision,
  createToken: ({ name, scope }) => `${name}, ${scope}`,
}
const SUMMARY_CHARS = 200

async function record(
  { access }: Pick<AppOptions, 'access'>,
  c: Context,
  route: Route,
  caller: Caller,
): Promise<void> {
  const summarize = SUMMARIES[route.id]
  // The body was read before, and is kept.
  const summary = summarize ? String(summarize(JSON.parse(await c.req.text()))).slice(0, SUMMARY_CHARS) : null
  await access?.record({
    tokenId: caller.tokenId,
    who: caller.name,
    from: senderOf(c).address,
    operation: route.id,
    subject: subjectOf(route.pattern, c.req.path) ?? c.res.headers.get('location')?.split('/').at(-1) ?? null,
    summary,
  })
}

function subjectOf(pattern: string, path: string): string | null {
  const at = pattern.split('/').findIndex((part) => part.startsWith(':'))
  const found = at === -1 ? undefined : path.split('/')[at]
  return found === undefined ? null : decodeURIComponent(found).slice(0, 128)
}
