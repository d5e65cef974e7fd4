/** Paths that a tier may write or not see are checked when the configuration is loaded. */
import { expect, test } from 'vitest'
import { fileProblems } from '../../src/config/check-files.ts'
import { loadConfig } from '../../src/config/load.ts'
import { temporaryDirs } from './temporary-dirs.ts'

const problemsOf = (write: string[], hidden: string[] = []) =>
  fileProblems({ files: { write, hidden } }, '/home/dev').map(({ key, message }) => `${key}: ${message}`)

test.each([
  ['~', /contains your home directory/],
  ['~/', /contains your home directory/],
  ['/home', /contains your home directory/],
  ['/home/dev/x/..', /contains your home directory/],
  ['/', /the sandbox decides what is there/],
  ['/proc/sys', /the sandbox decides what is there/],
  ['/srv/both/', /also listed in hidden/],
])('%s cannot be writable', (path, message) => {
  expect(problemsOf([path], ['/srv/both'])).toEqual([expect.stringMatching(message)])
})

test('the sandbox decides about /dev, so nothing there can be hidden', () => {
  expect(problemsOf([], ['/dev/kvm'])).toEqual([expect.stringMatching(/^hidden: .*decides/)])
})

test('folders in the home directory, and inside of hidden ones, are fine', () => {
  expect(problemsOf(['.', '~/project', '/home/devil', '~/.ssh/work'], ['~/.ssh', '/missing'])).toEqual([])
})

test('a problem is reported where it was written', () => {
  const load = () =>
    loadConfig({ ...temporaryDirs({ home: 'tiers:\n  2:\n    files: { write: ["/"] }' }), env: {} })
  expect(load).toThrowError(
    expect.objectContaining({
      details: {
        problems: [expect.objectContaining({ line: 3, key: expect.stringContaining('tiers.2.files.write') })],
      },
    }),
  )
})
