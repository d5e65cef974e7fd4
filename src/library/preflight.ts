/**
 * Checks, before a running daemon is stopped, whether the next one could start: that the configuration is valid, that its
 * port can be used, that there is room for the copy that is made before the database is changed, and that a copy of the
 * database can be opened and migrated. Changes nothing.
 */
import { existsSync } from 'node:fs'
import { loadConfig } from '../config/load.ts'
import { checkPort } from '../server/listen.ts'
import { rehearseOpening } from '../store/sqlite/rehearsal.ts'
import { checkRestore, checkUpgrade } from '../store/sqlite/upgrade.ts'
import { systemClock } from './clock.ts'
import type { ComposeInput } from './compose.ts'
import { backupFolder, databasePath } from './database-path.ts'
import { readVersion } from './version.ts'

export interface PreflightInput extends Pick<ComposeInput, 'home' | 'cwd' | 'env' | 'restore' | 'onWork'> {
  /** The address of the daemon that is to be stopped: its port will be free. */
  url: string
}

export async function preflight({ home, cwd, env, restore, onWork, url }: PreflightInput): Promise<void> {
  const { config } = loadConfig({ home, cwd, env })
  const { host, port } = config.server
  if (port !== Number(new URL(url).port)) await checkPort(host, port)
  const path = databasePath(config, home)
  if (!existsSync(path)) return
  const folder = backupFolder(home)
  const options = { folder, version: readVersion() }
  const opened = restore
    ? await checkRestore(path, { ...options, ...restore })
    : (await checkUpgrade(path, options)) && path
  if (opened === false) return
  onWork?.('Trying the migration on a copy of the database …')
  await rehearseOpening(opened, folder, systemClock.now())
}
