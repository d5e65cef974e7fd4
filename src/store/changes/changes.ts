/**
 * The change feed: every committed change has a number, and the numbers are in the order of the commits, without gaps.
 * A reader who has seen all changes up to a number gets what comes after it, and misses nothing.
 *
 * How a number is assigned: while a transaction works, triggers note in the temporary table `changed` which rows it
 * touches, each once (so a change is noted whoever makes it, and is undone with a savepoint). As the last thing before
 * the commit, the one row of `change_counter` is raised by as many, and the changes are stored under those numbers. On a
 * database with concurrent writers, a plain sequence would not do: a number taken early may be committed late, and a
 * reader would pass it by. The counter's row does: whoever raises it holds its lock until the commit, so the next one gets
 * a higher number and commits later. A transaction that fails gives its numbers back.
 *
 * Changes are kept for a while (`deleteChanges`). What agents say is not in the feed; that is what events are for.
 */
import type { Kysely } from 'kysely'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { ChangePage, ChangeRecord } from './records.ts'
import type { ChangesTable } from './schema.ts'

/** Numbers what the transaction has changed. Returns the newest number; null: nothing was changed. */
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
  /** The last number that was seen; 0: none. */
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
  // Read after the changes: if old ones are deleted in between, the reader loads anew rather than miss them.
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

/** Forgets changes that are older, and all but the newest `keep`. Returns how many. */
export async function deleteChanges(
  tx: Tx,
  { before, keep }: { before: Date; keep: number },
): Promise<number> {
  // By number, up to the newest that is too old: the clock may have been set back, and no gap may be left.
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
