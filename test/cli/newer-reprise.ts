/** A newer Reprise: a copy of this one with a higher version and one more migration. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

export const NEWER_VERSION = '99.0.0'
export const NEWER_SCHEMA = 9999

const MIGRATION = `import type { Kysely } from 'kysely'

export const later = {
  number: ${NEWER_SCHEMA},
  name: 'later',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema.createTable('later').addColumn('id', 'text').execute()
  },
}
`

export interface NewerReprise {
  bin: string
  remove: () => void
}

export function createNewerReprise(): NewerReprise {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-newer-'))
  for (const name of ['src', 'bin']) cpSync(join(ROOT, name), join(dir, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ ...manifest, version: NEWER_VERSION }))
  const migrations = join(dir, 'src/store/base/migrations')
  writeFileSync(join(migrations, `${NEWER_SCHEMA}-later.ts`), MIGRATION)
  const list = readFileSync(join(migrations, 'run.ts'), 'utf8')
  const changed = `import { later } from './${NEWER_SCHEMA}-later.ts'\n${list.replace(
    /(export const MIGRATIONS: readonly Migration\[\] = \[[^\]]*)\]/,
    '$1  later,\n]',
  )}`
  writeFileSync(join(migrations, 'run.ts'), changed)
  return { bin: join(dir, 'bin/reprise'), remove: () => rmSync(dir, { recursive: true, force: true }) }
}
