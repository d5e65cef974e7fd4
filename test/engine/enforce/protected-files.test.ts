/** Which files of a work directory a sandbox makes read-only. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findProtected } from '../../../src/engine/enforce/protected-files.ts'

function folderWith(...files: string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'reprise-protected-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), '')
  }
  return root
}

const found = (root: string, ...patterns: string[]) =>
  findProtected(root, patterns, '/home/user')
    .paths.map((path) => relative(root, path))
    .toSorted()

it('a pattern without a slash in front applies in every directory; a folder is protected as a whole', () => {
  const root = folderWith(
    '.git/hooks/pre-push',
    '.git/config',
    'sub/.git/hooks/x',
    'ie.yaml',
    'a/b/ie.yaml',
    'a/pie.yaml',
  )
  expect(found(root, '.git/hooks/**', '.git/config', 'ie.yaml')).toEqual([
    '.git/config',
    '.git/hooks',
    'a/b/ie.yaml',
    'ie.yaml',
    'sub/.git/hooks',
  ])
})

it('wildcards match within a name, ** any number of folders', () => {
  const root = folderWith(
    'x/deep/er/key.pem',
    'x/key.pem',
    'x/key.txt',
    'worktrees/one/config',
    'worktrees/one/two/config',
  )
  expect(found(root, `${root}/x/**/*.pem`)).toEqual(['x/deep/er/key.pem', 'x/key.pem'])
  expect(found(root, 'worktrees/*/config')).toEqual(['worktrees/one/config'])
})

it('absolute patterns, and those below the home directory, apply where they are', () => {
  const root = folderWith('volumes/data/file', 'other/volumes/file')
  expect(found(root, `${root}/volumes/**`)).toEqual(['volumes'])
  expect(findProtected(root, ['~/x/**'], join(root, 'other')).paths).toEqual([])
  expect(findProtected(root, ['~/volumes/**'], join(root, 'other')).paths).toEqual([
    join(root, 'other/volumes'),
  ])
})

it('says if a folder is too large to be looked through', () => {
  const root = folderWith('a/b', 'a/c', 'd')
  expect(findProtected(root, ['b'], '/home/user', 5).complete).toBe(true)
  expect(findProtected(root, ['b'], '/home/user', 4).complete).toBe(false)
})
