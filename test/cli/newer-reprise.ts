/**
 * A newer Reprise: a copy of this one with a higher version and one more migration. Its daemon can be made to fail while it
 * starts, at named points, by a file in the home (`failAt`).
 */
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

/** Each is a place in the sources before which the daemon looks whether it shall fail there. */
const POINTS = {
  checked: ['library/preflight.ts', "  onWork?.('Trying the migration"],
  told: ['cli/daemon/take-over.ts', '  if (await waitUntilGone(pid, GONE_WITHIN_MS)) return'],
  copied: ['store/sqlite/upgrade.ts', "  options.onWork?.('Migrating the database"],
  rehearsed: ['store/sqlite/open.ts', '    if (upgrade) await noteVersion'],
  migrated: ['store/sqlite/open.ts', "  await db\n    .insertInto('facts')\n    .values({ key: VERSION_FACT"],
  published: ['daemon/start.ts', '    const { adopted } = await engine.open()'],
} as const

export type Point = keyof typeof POINTS

/** `kill`: by SIGKILL; `throw`: by an error; `orphan`: by an error, once the command that started it is gone. */
export type Failure = 'kill' | 'throw' | 'orphan'

/** Makes the next daemon of the newer Reprise fail there, once. */
export function failAt(home: string, point: Point, how: Failure): void {
  writeFileSync(join(home, `fail-at-${point}`), how)
}

const FAIL = `import { existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export async function failHere(point: string): Promise<void> {
  const file = \`\${process.env.REPRISE_HOME}/fail-at-\${point}\`
  if (!existsSync(file)) return
  const how = readFileSync(file, 'utf8')
  rmSync(file)
  if (how === 'kill') process.kill(process.pid, 'SIGKILL')
  while (how === 'orphan' && process.connected) await sleep(10)
  throw new Error('made to fail')
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
  writeFileSync(join(dir, 'src/fail-here.ts'), FAIL)
  for (const [point, [file, before]] of Object.entries(POINTS)) {
    const path = join(dir, 'src', file)
    const text = readFileSync(path, 'utf8')
    if (text.split(before).length !== 2) throw new Error(`${file} has no single place for ${point}`)
    const call = `  await (await import('${'../'.repeat(file.split('/').length - 1)}fail-here.ts')).failHere('${point}')\n`
    writeFileSync(
      path,
      text.replace(before, () => `${call}${before}`),
    )
  }
  return { bin: join(dir, 'bin/reprise'), remove: () => rmSync(dir, { recursive: true, force: true }) }
}
