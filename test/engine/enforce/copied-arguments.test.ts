/** Private copies of files that an agent could exchange: what is checked is what is copied. */
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { copyArguments } from '../../../src/engine/enforce/copied-arguments.ts'

function setUp() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-copies-')))
  onTestFinished(() => rmSync(base, { recursive: true }))
  const [cwd, folder, secret] = [join(base, 'work'), join(base, 'copies'), join(base, 'secret')]
  for (const dir of [cwd, secret]) mkdirSync(dir)
  writeFileSync(join(cwd, 'body.bin'), Buffer.from([0, 255, 10]))
  writeFileSync(join(secret, 'key'), 'SECRET')
  const copy = (path: string, mustBeFile = true) =>
    copyArguments({
      args: ['send', `--file=${path}`],
      copies: [{ index: 1, before: '--file=', path, mustBeFile }],
      ...{ cwd, folder },
      isHidden: (real) => real.startsWith(`${secret}/`),
    })
  return { cwd, secret, copy }
}

it('copies the content and keeps the name', () => {
  const { cwd, copy } = setUp()
  const copied = copy('body.bin')
  if (!copied.ok) throw new Error(copied.problem)
  const [, path = ''] = copied.args[1]?.split('=') ?? []
  expect(path).toMatch(/\/copies\/1\/body\.bin$/)
  writeFileSync(join(cwd, 'body.bin'), 'exchanged')
  expect([...readFileSync(path)]).toEqual([0, 255, 10])
})

it('says what cannot be copied, and never reads what is hidden', () => {
  const { cwd, secret, copy } = setUp()
  symlinkSync(join(secret, 'key'), join(cwd, 'link'))
  symlinkSync(secret, join(cwd, 'dir'))
  symlinkSync('/proc/self/environ', join(cwd, 'environ'))
  execFileSync('mkfifo', [join(cwd, 'pipe')])
  const problems = ['link', 'dir/key', 'environ', 'missing', 'pipe', '.'].map((path) => copy(path))
  expect(problems.map((one) => (one.ok ? 'copied' : one.problem))).toEqual([
    'link leads to something hidden',
    'dir/key leads to something hidden',
    'environ leads to something hidden',
    'missing cannot be read (ENOENT)',
    'pipe is not a file',
    '. is a folder',
  ])
  // A folder of manifests stays as it is.
  expect(copy('.', false)).toEqual({ ok: true, args: ['send', '--file=.'] })
})
