import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ensureHome, resolveHome } from '../../src/config/home.ts'
import { temporaryDirs } from './temporary-dirs.ts'

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('where the home is', () => {
  test.each([
    [{ HOME: '/u' }, '/u/.reprise'],
    [{ HOME: '/u', REPRISE_HOME: '' }, '/u/.reprise'],
    [{ HOME: '/u', REPRISE_HOME: '~' }, '/u'],
    [{ HOME: '/u', REPRISE_HOME: '~/state' }, '/u/state'],
    [{ HOME: '/u', REPRISE_HOME: 'state' }, '/cwd/state'],
    [{ HOME: '/u', REPRISE_HOME: '/var/../srv/state/' }, '/srv/state'],
    [{ HOME: '/u', REPRISE_HOME: '~other' }, '/cwd/~other'],
  ])('%j', (env, home) => expect(resolveHome({ env, cwd: '/cwd' })).toBe(home))

  test('without HOME, the one of the account', () => {
    expect(resolveHome({ env: {}, cwd: '/cwd' })).toMatch(/^\/.*\.reprise$/)
  })
})

describe('making it usable', () => {
  test('creates it with its parents, for this user only, and leaves nothing behind', () => {
    const home = join(temporaryDirs().root, 'a', 'b')
    expect(ensureHome(home)).toEqual([])
    expect(mode(home)).toBe('700')
    expect(readdirSync(home)).toEqual([])
  })

  test('closes one that is open to others, and says so', () => {
    const { home } = temporaryDirs()
    chmodSync(home, 0o755)
    expect(ensureHome(home)).toEqual([
      `${home} was open to other users (mode 755); it is now private (mode 700).`,
    ])
    expect(mode(home)).toBe('700')
    expect(ensureHome(home)).toEqual([])
  })

  test('follows a symbolic link to a directory', () => {
    const { root, home } = temporaryDirs()
    symlinkSync(home, join(root, 'link'))
    expect(ensureHome(join(root, 'link'))).toEqual([])
  })

  test('a file is in the way', () => {
    const file = join(temporaryDirs().root, 'file')
    writeFileSync(file, '')
    expect(() => ensureHome(file)).toThrow(
      expect.objectContaining({
        code: 'home-unusable',
        message: `Cannot use ${file} as home: a file has that name.`,
      }),
    )
    expect(() => ensureHome(join(file, 'below'))).toThrow(
      expect.objectContaining({ message: expect.stringContaining('a file has that name') }),
    )
  })

  test('where no directory can be made, it says so at once', () => {
    // In /proc, whoever asks.
    if (!existsSync('/proc/self')) return
    expect(() => ensureHome('/proc/reprise')).toThrow(
      expect.objectContaining({ code: 'home-unusable', hint: expect.stringContaining('REPRISE_HOME') }),
    )
  })

  test.skipIf(process.getuid?.() === 0)('not writable', () => {
    const { root } = temporaryDirs()
    const home = join(root, 'locked')
    mkdirSync(home, { mode: 0o500 })
    expect(() => ensureHome(home)).toThrow(
      expect.objectContaining({
        message: `Cannot use ${home} as home: this user may not write there.`,
        hint: expect.stringContaining('Give this user access'),
      }),
    )
  })
})
