/** The store interface of tokens, and of the record of who did what. */
import type { Insertable, Kysely, Selectable } from 'kysely'
import type { TokenId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { GroupWriter } from '../base/writer.ts'
import type { AuditRecord, TokenRecord } from './records.ts'
import type { AuditTable, TokensTable } from './schema.ts'

export interface AccessStore {
  listTokens: () => Promise<TokenRecord[]>
  addToken: (token: TokenRecord) => Promise<void>
  /** Removes one token and adds another, both or neither. Returns false if the first does not exist any more. */
  replaceToken: (id: TokenId, by: TokenRecord) => Promise<boolean>
  /** Removes all tokens and adds one, both or neither. */
  replaceAllTokens: (by: TokenRecord) => Promise<void>
  removeToken: (id: TokenId) => Promise<boolean>
  removeExpiredTokens: (now: Date) => Promise<void>
  noteTokenUse: (id: TokenId, at: Date, from: string | null) => Promise<void>
  /** Stored together with what is written next, or within the window of the group commit, without a flush of its own. */
  addAudit: (entry: Omit<AuditRecord, 'id'>) => Promise<void>
  /** Newest first, with all that were added before the call. */
  listAudit: (query: {
    limit: number
    before?: number | undefined
    subject?: string | undefined
  }) => Promise<AuditRecord[]>
}

export function createAccessStore(reader: Kysely<Tables>, group: GroupWriter): AccessStore {
  const { write } = group
  let newestAudit: Promise<unknown> = Promise.resolve()
  return {
    listTokens: async () =>
      (await reader.selectFrom('tokens').selectAll().orderBy('id').execute()).map(toToken),
    addToken: (token) =>
      write(async (tx) => {
        await tx.insertInto('tokens').values(fromToken(token)).execute()
      }),
    replaceToken: (id, by) =>
      write(async (tx) => {
        const { numDeletedRows } = await tx.deleteFrom('tokens').where('id', '=', id).executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await tx.insertInto('tokens').values(fromToken(by)).execute()
        return true
      }),
    replaceAllTokens: (by) =>
      write(async (tx) => {
        await tx.deleteFrom('tokens').execute()
        await tx.insertInto('tokens').values(fromToken(by)).execute()
      }),
    removeToken: (id) =>
      write(async (tx) => {
        const { numDeletedRows } = await tx.deleteFrom('tokens').where('id', '=', id).executeTakeFirst()
        return numDeletedRows > 0n
      }),
    removeExpiredTokens: (now) =>
      write(async (tx) => {
        await tx.deleteFrom('tokens').where('expires_at', '<=', now.getTime()).execute()
      }),
    noteTokenUse: (id, at, from) =>
      write(async (tx) => {
        await tx
          .updateTable('tokens')
          .set({ last_used_at: at.getTime(), last_used_from: from })
          .where('id', '=', id)
          .execute()
      }),
    addAudit: ({ at, tokenId, who, from, operation, subject, summary }) => {
      const added = group.enqueue(async (tx) => {
        const row: Omit<AuditTable, 'id'> = {
          at: at.getTime(),
          token_id: tokenId,
          who,
          from_address: from,
          operation,
          subject,
          summary,
        }
        await tx
          .insertInto('audit')
          .values(row as Insertable<AuditTable>)
          .execute()
      })
      newestAudit = added.catch(() => {})
      return added
    },
    listAudit: async ({ limit, before, subject }) => {
      group.hurry()
      await newestAudit
      let select = reader.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(limit)
      if (before !== undefined) select = select.where('id', '<', before)
      if (subject !== undefined) select = select.where('subject', '=', subject)
      return (await select.execute()).map(toAudit)
    },
  }
}

const date = (ms: number | null) => (ms === null ? null : new Date(Number(ms)))

function toToken(row: Selectable<TokensTable>): TokenRecord {
  const { created_at, last_used_at, last_used_from, expires_at, ...same } = row
  return {
    ...same,
    createdAt: new Date(Number(created_at)),
    lastUsedAt: date(last_used_at),
    lastUsedFrom: last_used_from,
    expiresAt: date(expires_at),
  }
}

function fromToken(token: TokenRecord): TokensTable {
  const { createdAt, lastUsedAt, lastUsedFrom, expiresAt, ...same } = token
  return {
    ...same,
    created_at: createdAt.getTime(),
    last_used_at: lastUsedAt?.getTime() ?? null,
    last_used_from: lastUsedFrom,
    expires_at: expiresAt?.getTime() ?? null,
  }
}

function toAudit({ id, at, token_id, from_address, ...same }: Selectable<AuditTable>): AuditRecord {
  return { ...same, id: Number(id), at: new Date(Number(at)), tokenId: token_id, from: from_address }
}
