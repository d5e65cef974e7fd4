/** The files of Reprise itself, and what an agent at a tier may do with them. */
import { join } from 'node:path'
import { ALWAYS_PROTECTED } from '../core/rules/default-paths.ts'

/** No agent at a tier may change these. The home is given under each of its names. */
export function protectedPathsOf(homes: readonly string[]): string[] {
  return [...new Set(homes)].map((home) => `${home}/**`).concat(ALWAYS_PROTECTED)
}

/** Everything in the home that agents have no need to read. The state directory is there to be read by them. */
export function hiddenPathsOf(home: string): string[] {
  return NOT_FOR_AGENTS.map((name) => join(home, name))
}

const NOT_FOR_AGENTS = [
  'token',
  'key',
  'config.yaml',
  'daemon.json',
  'daemon.log',
  'daemon.sock',
  'reprise.db',
  'reprise.db-wal',
  'reprise.db-shm',
  'lock.db',
  'lock.json',
  'spool',
  'archive',
  'imports',
  'mirror',
  'damaged',
  'handling',
  'backups',
  'simulated',
]
