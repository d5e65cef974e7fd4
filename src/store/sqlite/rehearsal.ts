/**
 * Looks at a database without changing it: whether this Reprise could open and migrate it, tried on a temporary copy, and
 * whether going back from it to a copy would lose something.
 */
import { DatabaseSync } from 'node:sqlite'
import { RepriseError } from '../../contract/errors.ts'
import { withTemporaryCopy } from './copies.ts'
import { openSqliteStore } from './open.ts'

/** Throws if a copy of the database cannot be opened and migrated. The database may be in use. */
export async function rehearseOpening(source: string, folder: string, now: Date): Promise<void> {
  try {
    await withTemporaryCopy(source, folder, async (copy) => {
      const store = await openSqliteStore(copy, now)
      await store.close()
    })
  } catch (error) {
    // The path of the copy, which is gone, says nothing to the reader.
    const { message } =
      error instanceof RepriseError ? ((error.cause as Error | undefined) ?? error) : (error as Error)
    throw new RepriseError('database-unusable', `a copy of ${source} could not be migrated: ${message}`, {
      hint: 'The database is unchanged, and the daemon that runs was not stopped.',
      cause: error,
    })
  }
}

/** Whether nothing was done in the database since the copy was made: every change raises the counter of the feed. */
export function isUnchangedSince(database: string, copy: string): boolean {
  return newestChange(database) === newestChange(copy)
}

function newestChange(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return Number(database.prepare('select newest from change_counter').get()?.newest)
  } finally {
    database.close()
  }
}
