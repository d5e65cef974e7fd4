/** A real store for a test, in a file that no disk has to take. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import type { Store } from '../../../src/store/store.ts'

const RAM = '/dev/shm'
/** The folder for what tests write. */
export const base = existsSync(RAM) ? RAM : tmpdir()
const template = join(mkdtempSync(join(base, 'reprise-units-')), 'empty.db')

/** Copies a database that has its tables already: to make them takes longer than most of the tests. */
export async function openStore(path: string): Promise<Store> {
  if (!existsSync(template)) {
    await (await openSqliteStore(template, new Date())).close()
    process.once('exit', () => rmSync(join(template, '..'), { recursive: true, force: true }))
  }
  copyFileSync(template, path)
  return openSqliteStore(path, new Date(), { commitWindowMs: 0 })
}
