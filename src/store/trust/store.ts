/** The store interface of decisions about directories. */
import type { Kysely, Selectable } from 'kysely'
import type { SessionId } from '../../contract/ids.ts'
import type { DirectorySettings } from '../../contract/trust.ts'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import type { TrustDecisionsTable } from './schema.ts'

export interface TrustDecision {
  /** The real path. */
  dir: string
  decision: 'trust' | 'decline'
  /** Identifies the content that the decision is about. */
  digest: string
  /** The files of that content, with hashes. */
  files: readonly { path: string; hash: string }[]
  decidedAt: Date
}

export interface TrustStore {
  listTrustDecisions: () => Promise<TrustDecision[]>
  /** The decision about one of these directories. */
  findTrustDecisions: (dirs: readonly string[]) => Promise<TrustDecision[]>
  /** Replaces an earlier decision about the directory. */
  putTrustDecision: (decision: TrustDecision) => Promise<void>
  removeTrustDecision: (dir: string) => Promise<boolean>
  /** How the newest started run of the session treated the settings of its directory. */
  findDirectorySettings: (session: SessionId) => Promise<DirectorySettings | null>
}

export function createTrustStore(reader: Kysely<Tables>, write: Write): TrustStore {
  return {
    listTrustDecisions: async () =>
      (await reader.selectFrom('trust_decisions').selectAll().orderBy('dir').execute()).map(toDecision),
    findTrustDecisions: async (dirs) =>
      (await reader.selectFrom('trust_decisions').selectAll().where('dir', 'in', dirs).execute()).map(
        toDecision,
      ),
    putTrustDecision: ({ decidedAt, files, ...same }) =>
      write(async (tx) => {
        const row = { ...same, files: JSON.stringify(files), decided_at: decidedAt.getTime() }
        await tx
          .insertInto('trust_decisions')
          .values(row)
          .onConflict((oc) => oc.column('dir').doUpdateSet(row))
          .execute()
      }),
    removeTrustDecision: (dir) =>
      write(async (tx) => {
        const { numDeletedRows } = await tx
          .deleteFrom('trust_decisions')
          .where('dir', '=', dir)
          .executeTakeFirst()
        return numDeletedRows > 0n
      }),
    findDirectorySettings: async (session) => {
      const row = await reader
        .selectFrom('runs')
        .select('directory_settings')
        .where('session_id', '=', session)
        .where('directory_settings', 'is not', null)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      return (row?.directory_settings ?? null) as DirectorySettings | null
    },
  }
}

const toDecision = ({ files, decided_at, ...same }: Selectable<TrustDecisionsTable>): TrustDecision => ({
  ...same,
  files: JSON.parse(files),
  decidedAt: new Date(Number(decided_at)),
})
