/**
 * The order of a list with pages: by creation, or by last activity. Ids grow with time, so an id is the cursor of the
 * first; the cursor of the second is `<time>/<id>` and stays valid when its row moves to the beginning of the list.
 */
import { type RawBuilder, sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { ListSort } from '../../contract/http.ts'

export interface ListOrder {
  /** The column that decides; rows with equal values are ordered by id. */
  first: RawBuilder<unknown>
  /** Whether a row comes after the cursor; null: there is no cursor. */
  after: RawBuilder<boolean> | null
  cursorOf: (row: { id: string; at: Date }) => string
}

export function listOrder(
  { sort = 'newest', cursor }: { sort?: ListSort | undefined; cursor?: string | undefined },
  column: string,
  isId: (id: string) => boolean,
): ListOrder {
  const byActivity = sort === 'activity'
  const first = sql.ref(byActivity ? column : 'id')
  const cursorOf: ListOrder['cursorOf'] = ({ id, at }) => (byActivity ? `${at.getTime()}/${id}` : id)
  if (cursor === undefined) return { first, after: null, cursorOf }
  const [, at = '', id = ''] = /^(?:(\d{1,16})\/)?(.*)$/.exec(cursor) ?? []
  if (!isId(id) || byActivity !== (at !== '')) {
    throw new RepriseError('bad-request', 'cursor: expected the `nextCursor` of a previous page')
  }
  const older = sql<boolean>`id < ${id}`
  const after = byActivity
    ? sql<boolean>`(${first} < ${Number(at)} or (${first} = ${Number(at)} and ${older}))`
    : older
  return { first, after, cursorOf }
}
