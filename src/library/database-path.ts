/** Where the database of a home is. */
import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { RepriseError } from '../contract/errors.ts'

export function databasePath(config: Config, home: string): string {
  const { url } = config.store
  if (url === undefined) return join(home, 'reprise.db')
  const path = /^(?:sqlite|file):(?:\/\/)?(.+)$/.exec(url)?.[1]
  if (path) return resolve(path)
  throw new RepriseError(
    'config-invalid',
    `store.url: ${new URL(url).protocol} databases are not supported yet`,
    {
      hint: 'Use sqlite:/path/to/file.db, or remove store.url.',
    },
  )
}

/** The folder with copies of the database from before its migrations. */
export const backupFolder = (home: string) => join(home, 'backups')
