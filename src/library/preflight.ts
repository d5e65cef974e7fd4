/**
 * Checks, before a running daemon is stopped, whether the next one could start: that the configuration is valid, that it
 * knows the database, and that there is room for the copy that is made before migrations. Changes nothing.
 */
import { existsSync } from 'node:fs'
import { loadConfig } from '../config/load.ts'
import { checkRestore, checkUpgrade } from '../store/sqlite/upgrade.ts'
import type { ComposeInput } from './compose.ts'
import { backupFolder, databasePath } from './database-path.ts'
import { readVersion } from './version.ts'

export async function preflight({
  home,
  cwd,
  env,
  restore,
}: Pick<ComposeInput, 'home' | 'cwd' | 'env' | 'restore'>): Promise<void> {
  const { config } = loadConfig({ home, cwd, env })
  const path = databasePath(config, home)
  if (!existsSync(path)) return
  const options = { folder: backupFolder(home), version: readVersion() }
  if (restore) checkRestore(path, { ...options, ...restore })
  else await checkUpgrade(path, options)
}
