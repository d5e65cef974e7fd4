/** What an attempt can write, see and reach, by its tier. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  type SandboxFacts,
  sandboxInputOf,
  sessionFolders,
} from '../../../src/engine/enforce/sandbox-input.ts'
import { planSandbox } from '../../../src/process/sandbox/plan.ts'
import { rolesOf } from '../../../src/process/sandbox/roles.ts'

let home: string
let workDir: string
beforeEach(() => {
  const dir = realpathSync(mkdtempSync('/var/tmp/reprise-input-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  home = join(dir, 'home')
  workDir = join(home, 'work')
  for (const folder of [
    workDir,
    ...sessionFolders.map((name) => join(home, 'session', name)),
    join(home, 'scratch'),
  ])
    mkdirSync(folder, { recursive: true })
})

const open = (path: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '')
}
const inputOf = (rules: SandboxFacts['rules'], change: Partial<SandboxFacts> = {}) =>
  sandboxInputOf({
    workDir,
    rules,
    enclosure: { env: {}, privateDirs: [], readOnly: [], workDirEntries: ['.agent'], disposable: [] },
    env: { HOME: home },
    sessionDir: join(home, 'session'),
    scratch: join(home, 'scratch'),
    programDir: '/usr/bin',
    own: { hidden: [join(home, '.reprise/')], visible: [], writable: [] },
    protectedPatterns: ['.git/hooks/**', 'kept.yaml'],
    hidden: ['~/.ssh'],
    replaced: [],
    ...change,
  }).input
const files = (write: string[], hidden: string[] = []) => ({
  files: { write, hidden },
  network: 'open' as const,
})
const writable = (rules: SandboxFacts['rules']) => {
  const { canWrite } = rolesOf(inputOf(rules))
  return (...paths: string[]) => paths.map((path) => canWrite(path.replace('~', home)))
}

it('tier 1 writes nothing on the host, other tiers their work directory and what is listed', () => {
  for (const name of ['.cache', 'extra']) mkdirSync(join(home, name))
  expect(writable(files([]))('~/work', '~/work/new', '~/extra', '~/session/tmp/x')).toEqual([
    false,
    false,
    false,
    true,
  ])
  expect(writable(files(['.', '~/extra']))('~/work', '~/work/new', '~/extra/x', '~/other')).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(writable(null)('~/work/new', '~/other')).toEqual([true, false])
})

it('what is behind a link that the agent can replace counts as written by it', () => {
  mkdirSync(join(home, 'fixed'))
  writeFileSync(join(home, 'fixed/file'), '')
  symlinkSync(join(home, 'fixed/file'), join(workDir, 'link'))
  symlinkSync(join(home, 'fixed'), join(workDir, 'folder'))
  symlinkSync(join(workDir, 'link'), join(home, 'fixed/back'))
  const check = writable(files(['.']))
  expect(check('~/work/link', '~/work/folder/file', '~/fixed/back', '~/fixed/file')).toEqual([
    true,
    true,
    true,
    false,
  ])
})

it('protected files stay read-only in it, also folders of git and of the agent that are missing', () => {
  for (const path of ['.git/config', '.git/commondir', 'kept.yaml', 'sub/kept.yaml'])
    open(join(workDir, path))
  const check = writable(files(['.']))
  expect(check('~/work/kept.yaml', '~/work/sub/kept.yaml', '~/work/.git/hooks/x', '~/work/.agent/x')).toEqual(
    Array(4).fill(false),
  )
  expect(check('~/work/sub/other.yaml', '~/work/.git/config', '~/work/.git/commondir')).toEqual([
    true,
    true,
    false,
  ])
  // Also if a folder above the work directory can be written.
  mkdirSync(join(workDir, 'deep'))
  const inside = rolesOf(inputOf(files(['..']), { workDir: join(workDir, 'deep') }))
  expect(inside.canWrite(join(workDir, 'deep/.agent/x'))).toBe(false)
  expect(inside.canWrite(join(workDir, 'deep/other'))).toBe(true)
  rmSync(join(workDir, '.git'), { recursive: true })
  open(join(workDir, '.git'))
  expect(writable(files(['.']))('~/work/.git')).toEqual([false])
})

it('hides credentials, Reprise itself, sockets and what the tier lists', () => {
  for (const path of ['.ssh/id', '.reprise/token', 'work/secret', 'work/open']) open(join(home, path))
  const { isHidden } = rolesOf(inputOf(files(['.'], ['secret', '~/nowhere'])))
  const hidden = ['.ssh/id', '.reprise/token', 'work/secret', 'nowhere'].map((path) =>
    isHidden(join(home, path)),
  )
  expect(hidden).toEqual([true, true, true, true])
  expect(isHidden('/run/docker.sock')).toBe(true)
  expect(isHidden(join(workDir, 'open'))).toBe(false)
})

it('knows which file of the host a path inside means', () => {
  const { toHost } = rolesOf(inputOf(files(['.'])))
  expect(toHost('/tmp/x/../y')).toBe(join(home, 'session/tmp/y'))
  expect(toHost(join(home, '.cache/x'))).toBe(join(home, 'session/.cache/x'))
  expect(toHost(join(workDir, 'x'))).toBe(join(workDir, 'x'))
})

describe('refuses, with the reason,', () => {
  it('a writable path that contains the home directory', () => {
    for (const path of ['~', '/', dirname(home)])
      expect(() => inputOf(files([path]))).toThrow(/contains your home directory/)
    expect(() => inputOf(null, { workDir: home })).toThrow(/contains your home directory/)
    expect(() => inputOf(files([]), { workDir: home })).not.toThrow()
  })

  it('a writable path that does not exist, and one that is hidden', () => {
    const problems = (rules: SandboxFacts['rules']) => {
      const plan = planSandbox(inputOf(rules), { program: 'true', args: [] }, { kind: 'none' })
      return plan.ok ? [] : plan.problems.map(({ message }) => message)
    }
    expect(problems(files(['.', 'missing']))).toEqual([expect.stringContaining('missing" does not exist')])
    mkdirSync(join(home, '.ssh'))
    expect(problems(files(['~/.ssh']))).toEqual([expect.stringContaining('cannot be both')])
    expect(problems(files(['.'], ['.']))).not.toEqual([])
  })
})
