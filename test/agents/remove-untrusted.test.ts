/** Folders without rights are removed, too. Root needs no rights, so as root this is tried as another user. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDir } from './temporary-dir.ts'

const NOBODY = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0

const SCRIPT = `
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { makeAccessible, removeUntrusted } from './remove-untrusted.ts'
for (const top of ['removed', 'kept']) {
  mkdirSync(top + '/a/b', { recursive: true })
  writeFileSync(top + '/a/b/file', 'x')
  symlinkSync('/', top + '/a/link')
  for (const path of ['/a/b', '/a']) chmodSync(top + path, 0)
}
await removeUntrusted('removed')
await makeAccessible('kept')
writeFileSync('kept/a/b/file', 'written')
await removeUntrusted('missing')
`

it('removes a tree whose folders cannot be entered, or makes it usable again', () => {
  const dir = temporaryDir()
  copyFileSync(
    join(import.meta.dirname, '../../src/agents/remove-untrusted.ts'),
    join(dir, 'remove-untrusted.ts'),
  )
  chmodSync(dir, 0o755)
  if (isRoot) chownSync(dir, NOBODY.uid, NOBODY.gid)
  execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: dir,
    env: {},
    ...(isRoot ? NOBODY : {}),
  })
  expect(existsSync(join(dir, 'removed'))).toBe(false)
  expect(existsSync(join(dir, 'kept/a/b/file'))).toBe(true)
})
