/** The secrets with which others send events to a watch are not in the database, and still work. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WatchId } from '../../src/contract/ids.ts'
import { openSealer } from '../../src/library/sealer.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reprise-sealed-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const SECRET = 'a-secret-of-sixteen-or-more'
const NOW = new Date('2026-05-01T10:00:00Z')
const path = () => join(home, 'reprise.db')
const watch = (name: string) => ({
  id: WatchId.create(NOW),
  name,
  source: 'api' as const,
  definition: { everyMs: 60_000, prompt: 'look', workDir: home, hookSecret: SECRET },
  state: 'active' as const,
  due: null,
  memory: null,
  cycles: 0,
  createdAt: NOW,
  updatedAt: NOW,
})
const files = () => ['', '-wal'].map((end) => read(path() + end)).join('')
const read = (name: string) => {
  try {
    return readFileSync(name, 'latin1')
  } catch {
    return ''
  }
}

it('seals what is stored and what an earlier version stored, and opens it with its own key only', async () => {
  const before = await openSqliteStore(path(), NOW)
  await before.addWatch(watch('old'))
  await before.close()
  expect(files()).toContain(SECRET)

  const store = await openSqliteStore(path(), NOW, { sealer: openSealer(home) })
  expect(await store.sealSecrets()).toBe(1)
  expect(await store.sealSecrets()).toBe(0)
  const { id } = await store.addWatch(watch('new'))
  await store.updateWatch(id, { definition: { ...watch('').definition, prompt: 'look again' } }, NOW)
  for (const name of ['old', 'new']) expect((await store.findWatch(name))?.definition.hookSecret).toBe(SECRET)
  expect((await store.listWatches()).map(({ definition }) => definition.hookSecret)).toEqual([SECRET, SECRET])
  await store.close()
  new DatabaseSync(path()).close()
  expect(files()).not.toContain(SECRET)
  expect(statSync(join(home, 'key')).mode & 0o777).toBe(0o600)

  rmSync(join(home, 'key'))
  const other = await openSqliteStore(path(), NOW, { sealer: openSealer(home) })
  expect((await other.findWatch('old'))?.definition.hookSecret).toBe('')
  await other.close()
})
