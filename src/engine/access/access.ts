/**
 * Tokens: who may call the daemon, and the record of who did what.
 *
 * All valid tokens are in memory (valid-tokens.ts), because every request asks for one. A token is handed out after it is
 * stored, so it survives a restart.
 *
 *   link ──(used once)──→ page        a sign-in link becomes the sign-in of a browser
 *   command-line, named, page ──→ revoked, expired, or rotated (same id, other secret)
 *
 * Rotating the token of the command line ends all other tokens, sign-ins and links: it is the remedy if a secret has
 * leaked, and what a thief created with it must end, too.
 *
 * Invariants: there is one token of the kind `command-line`, the one in the file of the home; a link signs in at most
 * once, also if it is opened twice at the same time; the secret of a token is not stored; changes are made one after
 * the other, and none is made for a caller whose token has ended meanwhile; a token that ends, ends its open streams.
 */
import { randomBytes } from 'node:crypto'
import type { AuditEntry, CreatedToken, CreateToken, Scope, Token } from '../../contract/access.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Page } from '../../contract/http.ts'
import { TokenId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { TokenRecord } from '../../store/access/records.ts'
import type { AccessStore } from '../../store/access/store.ts'
import type { Access, Caller, Recorded } from './api.ts'
import { hashSecret, type ValidToken, ValidTokens } from './valid-tokens.ts'

export interface AccessDeps {
  store: AccessStore
  clock: Pick<Clock, 'now'>
  /** Writes the secret of the command line to the file in the home. */
  writeCommandLineToken: (secret: string) => void
}

const LINK_LASTS_MS = 10 * 60_000
const PAGE_LASTS_MS = 90 * 86_400_000
/** The last use is written at most this often. */
const NOTE_USE_EVERY_MS = 60_000

const newSecret = () => randomBytes(32).toString('base64url')
/** The prefix is what redaction recognises it by, also after a rotation. */
const newToken = () => `rpt_${newSecret()}`
/** A page's secret has two parts: one in the cookie, one that only pages of the daemon's own origin know. */
const pageSecret = (cookie: string, pageKey: string) => `${cookie}.${pageKey}`

export async function openAccess(deps: AccessDeps, commandLineSecret: string): Promise<Access> {
  const { store, clock } = deps
  const tokens = new ValidTokens(clock)
  const require = (id: TokenId): ValidToken => {
    const token = tokens.get(id)
    if (token) return token
    throw new RepriseError('not-found', `there is no token ${id}`, { hint: '`reprise token` lists them.' })
  }
  let lastChange: Promise<unknown> = Promise.resolve()
  /** Makes a change after those that were asked for before. Refuses if the caller's token was revoked by one of them. */
  const inTurn = <T>(by: Caller | null, change: () => Promise<T>): Promise<T> => {
    const turn = lastChange.then(() => {
      if (by?.ended.aborted) throw new RepriseError('unauthorized', 'the token was revoked')
      return change()
    })
    lastChange = turn.catch(() => {})
    return turn
  }
  const build = (
    kind: TokenRecord['kind'],
    { name, scope, secret, lastsMs }: { name: string; scope: Scope; secret: string; lastsMs: number | null },
  ): TokenRecord => {
    const createdAt = clock.now()
    return {
      id: TokenId.create(createdAt),
      kind,
      name,
      scope,
      hash: hashSecret(secret),
      createdAt,
      lastUsedAt: null,
      lastUsedFrom: null,
      expiresAt: lastsMs === null ? null : new Date(createdAt.getTime() + lastsMs),
    }
  }
  const noteUse = (token: ValidToken, from: string | null) => {
    const now = clock.now()
    const last = token.lastUsedAt?.getTime() ?? 0
    if (Math.abs(now.getTime() - last) < NOTE_USE_EVERY_MS && token.lastUsedFrom === from) return
    token.lastUsedAt = now
    token.lastUsedFrom = from
    // Only a note: if it cannot be stored, the request is served all the same.
    store.noteTokenUse(token.id, now, from).catch(() => {})
  }

  await store.removeExpiredTokens(clock.now())
  for (const token of await store.listTokens()) {
    const outdated = token.kind === 'command-line' && token.hash !== hashSecret(commandLineSecret)
    if (outdated) await store.removeToken(token.id)
    else tokens.keep(token)
  }
  if (!tokens.find(commandLineSecret)) {
    const token = build('command-line', {
      name: 'command line',
      scope: 'admin',
      secret: commandLineSecret,
      lastsMs: null,
    })
    await store.addToken(token)
    tokens.keep(token)
  }

  return {
    authenticate: (shown, from) => {
      const secret =
        shown.bearer ?? (shown.cookie && shown.pageKey ? pageSecret(shown.cookie, shown.pageKey) : undefined)
      const token = secret === undefined ? null : tokens.find(secret)
      if (!token || token.kind === 'link' || (token.kind === 'page') !== (shown.bearer === undefined))
        return null
      noteUse(token, from)
      return callerWith(token)
    },

    createLink: ({ name, scope = 'admin' }, by) =>
      inTurn(by, async () => {
        const code = newSecret()
        const link = build('link', { name: name ?? '', scope, secret: code, lastsMs: LINK_LASTS_MS })
        await store.addToken(link)
        tokens.keep(link)
        return { code, expiresAt: (link.expiresAt as Date).toISOString() }
      }),
    signIn: (code, { from, browser }) =>
      inTurn(null, async () => {
        const link = tokens.find(code)
        if (link?.kind !== 'link') return null
        tokens.drop(link.id)
        const [cookie, pageKey] = [newSecret(), newSecret()]
        const page = build('page', {
          name: link.name || browser,
          scope: link.scope,
          secret: pageSecret(cookie, pageKey),
          lastsMs: PAGE_LASTS_MS,
        })
        if (!(await store.replaceToken(link.id, page))) return null
        const token = tokens.keep(page)
        noteUse(token, from)
        return {
          token: describe(token, token.id),
          cookie,
          pageKey,
          lastsMs: PAGE_LASTS_MS,
          caller: callerWith(token),
        }
      }),

    list: (current) => tokens.list().map((token) => describe(token, current)),
    create: ({ name, scope, expiresInMs }: CreateToken, by): Promise<CreatedToken> =>
      inTurn(by, async () => {
        const secret = newToken()
        const token = build('named', { name, scope, secret, lastsMs: expiresInMs ?? null })
        await store.addToken(token)
        tokens.keep(token)
        return { ...describe(token, null), secret }
      }),
    revoke: (id, by) =>
      inTurn(by, async () => {
        const token = require(id)
        if (token.kind === 'command-line') {
          throw new RepriseError(
            'conflict',
            'the token of the command line cannot be revoked, only replaced',
            { hint: 'Replace it with: reprise token rotate' },
          )
        }
        tokens.drop(id)
        await store.removeToken(id)
      }),
    rotate: (id, by) =>
      inTurn(by, async () => {
        const { ended: _, ...token } = require(id)
        if (token.kind === 'page' || token.kind === 'link') {
          throw new RepriseError('conflict', 'a sign-in of a browser cannot be rotated', {
            hint: 'Revoke it, and sign in again with: reprise open',
          })
        }
        const secret = newToken()
        const rotated = { ...token, hash: hashSecret(secret), createdAt: clock.now(), lastUsedAt: null }
        const current = by?.tokenId ?? null
        if (token.kind === 'named') {
          await store.replaceToken(id, rotated)
          tokens.keep(rotated)
          return { ...describe(rotated, current), secret }
        }
        // The file first: if the daemon dies in between, the next one takes the token from the file.
        deps.writeCommandLineToken(secret)
        tokens.dropAll()
        tokens.keep(rotated)
        await store.replaceAllTokens(rotated)
        return { ...describe(rotated, current), secret: null }
      }),

    record: (entry: Recorded) => store.addAudit({ ...entry, at: clock.now() }),
    listAudit: async ({ limit, cursor, subject }): Promise<Page<AuditEntry>> => {
      const before = cursor === undefined ? undefined : Number(cursor)
      if (before !== undefined && !Number.isSafeInteger(before))
        throw new RepriseError('bad-request', 'cursor: expected the `nextCursor` of a previous page')
      const found = await store.listAudit({ limit: limit + 1, before, subject })
      const items = found.slice(0, limit).map((entry) => ({ ...entry, at: entry.at.toISOString() }))
      return { items, nextCursor: found.length > limit ? String(items.at(-1)?.id) : null }
    },
  }
}

const callerWith = ({ id, name, scope, kind, ended }: ValidToken): Caller => ({
  tokenId: id,
  name,
  scope,
  kind,
  ended,
})

function describe(token: TokenRecord, current: TokenId | null): Token {
  const { id, kind, name, scope, lastUsedFrom, createdAt, lastUsedAt, expiresAt } = token
  return {
    id,
    kind,
    name,
    scope,
    lastUsedFrom,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
    current: token.id === current,
  }
}
