/**
 * Tokens: who may call the daemon, and the record of who did what.
 *
 * All valid tokens are in memory by the hash of their secret, because every request asks for one. The store is written
 * first, so a token that was handed out survives a restart and a revoked one does not come back.
 *
 *   link ──(used once)──→ page        a sign-in link becomes the sign-in of a browser
 *   command-line, named, page ──→ revoked, expired, or rotated (same id, other secret)
 *
 * Invariants: there is one token of the kind `command-line`, the one in the file of the home; a link signs in at most
 * once, also if it is opened twice at the same time; the secret of a token is not stored.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { AuditEntry, CreatedToken, CreateToken, Scope, Token } from '../../contract/access.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Page } from '../../contract/http.ts'
import { TokenId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { TokenRecord } from '../../store/access/records.ts'
import type { AccessStore } from '../../store/access/store.ts'
import type { Access, Caller, Recorded } from './api.ts'

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

export const hashSecret = (secret: string) => createHash('sha256').update(secret).digest('hex')
const newSecret = () => randomBytes(32).toString('base64url')
/** A page's secret has two parts: one in the cookie, one that only pages of the daemon's own origin know. */
const pageSecret = (cookie: string, pageKey: string) => `${cookie}.${pageKey}`

export async function openAccess(deps: AccessDeps, commandLineSecret: string): Promise<Access> {
  const { store, clock } = deps
  const byHash = new Map<string, TokenRecord>()
  const keep = (token: TokenRecord) => void byHash.set(token.hash, token)
  const find = (secret: string): TokenRecord | null => {
    const token = byHash.get(hashSecret(secret))
    if (!token) return null
    if (token.expiresAt === null || token.expiresAt > clock.now()) return token
    byHash.delete(token.hash)
    return null
  }
  const require = (id: TokenId): TokenRecord => {
    const token = [...byHash.values()].find((one) => one.id === id)
    if (token) return token
    throw new RepriseError('not-found', `there is no token ${id}`, { hint: '`reprise token` lists them.' })
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
  const noteUse = (token: TokenRecord, from: string | null) => {
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
    else keep(token)
  }
  if (!byHash.has(hashSecret(commandLineSecret))) {
    const token = build('command-line', {
      name: 'command line',
      scope: 'admin',
      secret: commandLineSecret,
      lastsMs: null,
    })
    await store.addToken(token)
    keep(token)
  }

  return {
    authenticate: (shown, from) => {
      const secret =
        shown.bearer ?? (shown.cookie && shown.pageKey ? pageSecret(shown.cookie, shown.pageKey) : undefined)
      const token = secret === undefined ? null : find(secret)
      if (!token || token.kind === 'link' || (token.kind === 'page') !== (shown.bearer === undefined))
        return null
      noteUse(token, from)
      return { tokenId: token.id, name: token.name, scope: token.scope, kind: token.kind }
    },

    createLink: async ({ name, scope = 'admin' }) => {
      const code = newSecret()
      const link = build('link', { name: name ?? '', scope, secret: code, lastsMs: LINK_LASTS_MS })
      await store.addToken(link)
      keep(link)
      return { code, expiresAt: (link.expiresAt as Date).toISOString() }
    },
    signIn: async (code, { from, browser }) => {
      const link = find(code)
      if (link?.kind !== 'link') return null
      // From here on nobody else can use it; the store decides between two daemons.
      byHash.delete(link.hash)
      const [cookie, pageKey] = [newSecret(), newSecret()]
      const token = build('page', {
        name: link.name || browser,
        scope: link.scope,
        secret: pageSecret(cookie, pageKey),
        lastsMs: PAGE_LASTS_MS,
      })
      if (!(await store.replaceToken(link.id, token))) return null
      keep(token)
      noteUse(token, from)
      const caller: Caller = { tokenId: token.id, name: token.name, scope: token.scope, kind: 'page' }
      return { token: describe(token, token.id), cookie, pageKey, lastsMs: PAGE_LASTS_MS, caller }
    },

    list: (current) =>
      [...byHash.values()]
        .filter(({ expiresAt }) => expiresAt === null || expiresAt > clock.now())
        .map((token) => describe(token, current)),
    create: async ({ name, scope, expiresInMs }: CreateToken): Promise<CreatedToken> => {
      const secret = newSecret()
      const token = build('named', { name, scope, secret, lastsMs: expiresInMs ?? null })
      await store.addToken(token)
      keep(token)
      return { ...describe(token, null), secret }
    },
    revoke: async (id) => {
      const token = require(id)
      if (token.kind === 'command-line') {
        throw new RepriseError('conflict', 'the token of the command line cannot be revoked, only replaced', {
          hint: 'Replace it with: reprise token rotate',
        })
      }
      byHash.delete(token.hash)
      await store.removeToken(id)
    },
    rotate: async (id, current) => {
      const token = require(id)
      if (token.kind === 'page' || token.kind === 'link') {
        throw new RepriseError('conflict', 'a sign-in of a browser cannot be rotated', {
          hint: 'Revoke it, and sign in again with: reprise open',
        })
      }
      const secret = newSecret()
      const rotated = { ...token, hash: hashSecret(secret), createdAt: clock.now(), lastUsedAt: null }
      // The file first: if the daemon dies in between, the next one takes the token from the file.
      const isCommandLine = token.kind === 'command-line'
      if (isCommandLine) deps.writeCommandLineToken(secret)
      await store.replaceToken(id, rotated)
      byHash.delete(token.hash)
      keep(rotated)
      return { ...describe(rotated, current), secret: isCommandLine ? null : secret }
    },

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

function describe(token: TokenRecord, current: TokenId | null): Token {
  const { hash: _, createdAt, lastUsedAt, expiresAt, ...same } = token
  return {
    ...same,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
    current: token.id === current,
  }
}
