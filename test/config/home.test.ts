import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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

describe('files in it', () => {
  test('that others could read are closed', () => {
    const { home } = temporaryDirs()
    writeFileSync(join(home, 'token'), 'x')
    mkdirSync(join(home, 'spool'))
    for (const name of ['token', 'spool']) chmodSync(join(home, name), 0o777)
    expect(ensureHome(home)).toEqual([])
    expect([mode(join(home, 'token')), mode(join(home, 'spool'))]).toEqual(['700', '700'])
  })

  test('may be links to files of the user, not to ones that others can change', () => {
    const { root, home } = temporaryDirs()
    const target = join(root, 'dotfiles.yaml')
    writeFileSync(target, '')
    chmodSync(target, 0o644)
    symlinkSync(target, join(home, 'config.yaml'))
    expect(ensureHome(home)).toEqual([])
    expect(mode(target)).toBe('644')
    chmodSync(target, 0o666)
    expect(() => ensureHome(home)).toThrow(
      expect.objectContaining({
        code: 'home-unusable',
        message: `Cannot use ${home} as home: ${home}/config.yaml is a link to ${target}, which other users can change.`,
        hint: expect.stringContaining(`chmod go-w ${target}`),
      }),
    )
  })

  test('a directory above in which others can replace the home is named', () => {
    const { root } = temporaryDirs()
    const shared = join(root, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o777)
    expect(ensureHome(join(shared, 'home'))).toEqual([expect.stringContaining(`they can write to ${shared}`)])
    // As in /tmp, only the owner of a file can replace it.
    chmodSync(shared, 0o1777)
    expect(ensureHome(join(shared, 'home'))).toEqual([])
  })

  describe.skipIf(process.getuid?.() !== 0)('of another user', () => {
    const refused = (home: string, path: string) =>
      expect(() => ensureHome(home)).toThrow(
        expect.objectContaining({
          code: 'home-unusable',
          message: `Cannot use ${home} as home: ${path} belongs to another user (uid 12345).`,
        }),
      )

    test('are refused: the home itself, and what is in it', () => {
      const { home } = temporaryDirs()
      chownSync(home, 12345, 12345)
      refused(home, home)
      chownSync(home, 0, 0)
      writeFileSync(join(home, 'token'), 'planted')
      chownSync(join(home, 'token'), 12345, 12345)
      refused(home, join(home, 'token'))
    })

    test('are refused below the first level, if the home was open for writing', () => {
      const { home } = temporaryDirs()
      mkdirSync(join(home, 'spool', 'a'), { recursive: true })
      const planted = join(home, 'spool', 'a', 'out')
      writeFileSync(planted, '')
      chownSync(planted, 12345, 12345)
      expect(ensureHome(home)).toEqual([])
      chmodSync(home, 0o777)
      refused(home, planted)
    })
  })
})
