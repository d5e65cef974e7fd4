/** The copies of a home's database, for the command that starts a daemon. */
import { loadConfig } from '../config/load.ts'
import { listCopies } from '../store/sqlite/copies.ts'
import { isUnchangedSince } from '../store/sqlite/rehearsal.ts'
import type { ComposeInput } from './compose.ts'
import { backupFolder, databasePath } from './database-path.ts'

/** The paths of the copies, the newest first. */
export const copiesIn = (home: string) => listCopies(backupFolder(home)).map(({ path }) => path)

/** Whether going back to the copy would lose nothing. */
export function isCopyUpToDate(
  copy: string,
  { home, cwd, env }: Pick<ComposeInput, 'home' | 'cwd' | 'env'>,
): boolean {
  return isUnchangedSince(databasePath(loadConfig({ home, cwd, env }).config, home), copy)
}
