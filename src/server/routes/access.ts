/** Tokens and sign-ins, and the record of who did what. */
import type { Context } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import { RepriseError } from '../../contract/errors.ts'
import type { AppOptions } from '../base/app-options.ts'
import { cookieName } from '../base/caller.ts'
import { senderOf } from '../base/forwarded.ts'
import { type Handlers, respond, respondEmpty } from '../base/handler.ts'
import { callerOf } from '../base/known-caller.ts'

type AccessHandlers = Pick<
  Handlers,
  | 'createSignInLink'
  | 'signIn'
  | 'signOut'
  | 'listTokens'
  | 'createToken'
  | 'revokeToken'
  | 'rotateToken'
  | 'listAudit'
>

export function accessHandlers(
  options: Pick<AppOptions, 'access' | 'home' | 'url' | 'publicUrl'>,
): AccessHandlers {
  const access = () => {
    if (options.access) return options.access
    throw new RepriseError('not-found', 'this server has no store of tokens')
  }
  const currentOf = (c: Context) => callerOf(c)?.tokenId ?? null
  const cookie = { path: '/', httpOnly: true, sameSite: 'Strict' } as const

  return {
    createSignInLink: async ({ body }, c) => {
      const { code, expiresAt } = await access().createLink(body, callerOf(c))
      const linkAt = (base: string) => `${base.replace(/\/+$/, '')}/sign-in#${code}`
      const publicUrl = options.publicUrl === undefined ? null : linkAt(options.publicUrl)
      return respond(201, { url: linkAt(options.url()), publicUrl, expiresAt })
    },
    signIn: async ({ body }, c) => {
      const { address: from, secure } = senderOf(c)
      const signedIn = await access().signIn(body.code, { from, browser: browserOf(c) })
      if (!signedIn) {
        throw new RepriseError('unauthorized', 'this link was used before, or has expired', {
          hint: 'Get a new one with: reprise open',
        })
      }
      const { token, pageKey, lastsMs, caller } = signedIn
      setCookie(c, cookieName(options.home), signedIn.cookie, {
        ...cookie,
        maxAge: Math.floor(lastsMs / 1000),
        secure,
      })
      const { tokenId, name: who } = caller
      await access().record({ tokenId, who, from, operation: 'signIn', subject: tokenId, summary: null })
      return respond(200, { token, pageKey })
    },
    signOut: async (_, c) => {
      const caller = callerOf(c)
      if (caller?.kind === 'page' && caller.tokenId) await access().revoke(caller.tokenId, caller)
      deleteCookie(c, cookieName(options.home), cookie)
      return respondEmpty(204)
    },
    listTokens: (_, c) => respond(200, { items: access().list(currentOf(c)), nextCursor: null }),
    createToken: async ({ body }, c) => respond(201, await access().create(body, callerOf(c))),
    revokeToken: async ({ params }, c) => {
      await access().revoke(params.id, callerOf(c))
      return respondEmpty(204)
    },
    rotateToken: async ({ params }, c) => respond(200, await access().rotate(params.id, callerOf(c))),
    listAudit: async ({ query }) => respond(200, await access().listAudit(query)),
  }
}

/** A short name for the browser, such as `Firefox on Linux`. */
function browserOf(c: Context): string {
  const agent = c.req.header('user-agent') ?? ''
  const browser = /Edg\//.test(agent)
    ? 'Edge'
    : /Firefox\//.test(agent)
      ? 'Firefox'
      : /Chrome\//.test(agent)
        ? 'Chrome'
        : /Safari\//.test(agent)
          ? 'Safari'
          : 'a browser'
  const system = /Android|iPhone|iPad|Windows|Mac OS X|Linux/.exec(agent)?.[0].replace('Mac OS X', 'macOS')
  return system ? `${browser} on ${system}` : browser
}
