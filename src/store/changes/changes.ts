/**
 * The change feed: every committed change has a number, and the numbers follow the order of the commits without gaps. A
 * reader that has seen all changes up to a number can read those after it, and misses none.
 *
 * How a number is assigned: during a transaction, triggers note in the temporary table `changed` which rows it touches,
 * each once (so every change is noted, whichever code makes it, and is undone with a savepoint). Immediately before the
 * commit, the one row of `change_counter` is raised by their number, and the changes are stored under the new numbers.
 * On a database with concurrent writers a plain sequence would not do: a number taken early may be committed late, and
 * a reader would miss it. Raising the counter locks its row until the commit, so the next transaction gets a higher
 * number and commits later. A transaction that fails returns its numbers.
 *
 * Changes are kept for a limited time (`deleteChanges`). Agent output is not in the feed; it is in the events.
 */
import type { Kysely } from 'kysely'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { ChangePage, ChangeRecord } from './records.ts'
import type { ChangesTable } from './schema.ts'

/** Numbers the changes of the transaction. Returns the newest number, or null if nothing was changed. */
export async function numberChanges(tx: Tx, at: Date): Promise<number | null> {
  const changed = await tx.selectFrom('changed').select(['kind', 'id', 'state']).execute()
  if (changed.length === 0) return null
  const { newest } = await tx
    .updateTable('change_counter')
    .set((eb) => ({ newest: eb('newest', '+', changed.length) }))
    .returning('newest')
    .executeTakeFirstOrThrow()
  const first = Number(newest) - changed.length + 1
  for (let from = 0; from < changed.length; from += INSERTED_AT_ONCE) {
    const rows = changed.slice(from, from + INSERTED_AT_ONCE)
    await tx
      .insertInto('changes')
      .values(rows.map((row, index) => ({ ...row, seq: first + from + index, at: at.getTime() })))
      .execute()
  }
  await tx.deleteFrom('changed').execute()
  return Number(newest)
}

const INSERTED_AT_ONCE = 500

export interface ChangeQuery {
  /** The last number that the reader has seen; 0: none. */
  after: number
  limit: number
}

/** Oldest first. */
export async function listChanges(db: Kysely<Tables>, { after, limit }: ChangeQuery): Promise<ChangePage> {
  const rows = await db
    .selectFrom('changes')
    .selectAll()
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
  // Read after the changes: if old ones are deleted in between, the reader reloads everything and misses nothing.
  const counter = await db.selectFrom('change_counter').select('newest').executeTakeFirstOrThrow()
  const kept = await db
    .selectFrom('changes')
    .select((eb) => eb.fn.min('seq').as('seq'))
    .executeTakeFirst()
  const newest = Number(counter.newest)
  const oldest = kept?.seq == null ? newest + 1 : Number(kept.seq)
  const tooOld = after < oldest - 1 || after > newest
  return { items: tooOld ? [] : rows.map(toChange), oldest, newest, tooOld }
}

const toChange = ({ seq, kind, id, state, at }: ChangesTable): ChangeRecord => ({
  seq: Number(seq),
  kind,
  id,
  state,
  at: new Date(Number(at)),
})

/** Deletes older changes, and all but the newest `keep`. Returns how many. */
export async function deleteChanges(
  tx: Tx,
  { before, keep }: { before: Date; keep: number },
): Promise<number> {
  // Deletes by number, up to the newest that is too old: the clock may have been set back, and no gap may be left.
  const { numDeletedRows } = await tx
    .deleteFrom('changes')
    .where((eb) =>
      eb.or([
        eb(
          'seq',
          '<=',
          eb
            .selectFrom('changes as old')
            .select((old) => old.fn.max('old.seq').as('seq'))
            .where('old.at', '<', before.getTime()),
        ),
        eb(
          'seq',
          '<=',
          eb.selectFrom('change_counter').select((c) => c('newest', '-', keep).as('seq')),
        ),
      ]),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
