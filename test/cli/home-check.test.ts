/** `reprise doctor` about a home that others can change. It says so and changes nothing. */
import { chmodSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkHome } from '../../src/cli/doctor/home.ts'
import { temporaryDirs } from '../config/temporary-dirs.ts'

test('a link to a file that others can change fails, an open home is a warning', async () => {
  const { root, home } = temporaryDirs()
  chmodSync(home, 0o700)
  expect((await checkHome(home))[0]).toMatchObject({ name: 'home', status: 'ok' })
  chmodSync(home, 0o755)
  expect((await checkHome(home))[0]).toMatchObject({ status: 'warn', hint: `Run: chmod 700 ${home}` })
  const target = join(root, 'shared.yaml')
  writeFileSync(target, '')
  chmodSync(target, 0o666)
  symlinkSync(target, join(home, 'config.yaml'))
  expect((await checkHome(home))[0]).toMatchObject({
    status: 'fail',
    message: `${home}/config.yaml is a link to ${target}, which other users can change`,
  })
  expect(statSync(home).mode & 0o777).toBe(0o755)
})
