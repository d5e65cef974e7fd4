/** What is read of a repository that an agent may have written, compared with what git itself says of real ones. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import {
  findRepository,
  isRefName,
  listObjectFolders,
  listRefs,
  readHead,
  readRef,
} from '../../../src/process/git/repository.ts'
import { Repository, temporaryDir } from '../git/repository.ts'

const found = (dir: string) => {
  const repository = findRepository(dir)
  if (!repository) throw new Error(`there is no repository at ${dir}`)
  return repository
}

describe('a repository is found', () => {
  it('from its top and from below, and not from above', () => {
    const { top, home } = Repository.committed()
    mkdirSync(join(top, 'a/b'), { recursive: true })
    const expected = { top, gitDir: join(top, '.git'), commonDir: join(top, '.git') }
    expect(findRepository(top)).toEqual(expected)
    expect(findRepository(join(top, 'a/b'))).toEqual(expected)
    expect(findRepository(home)).toBeNull()
  })

  it('from a linked work tree, which shares its references', () => {
    const repository = Repository.committed()
    const tree = join(repository.home, 'a tree')
    repository.git('worktree', 'add', '-q', '-b', 'side', tree)
    const gitDir = join(repository.top, '.git/worktrees/a-tree')
    expect(findRepository(tree)).toEqual({ top: tree, gitDir, commonDir: join(repository.top, '.git') })
    expect(readHead(found(tree))).toBe('refs/heads/side')
    expect(readRef(found(tree), 'refs/heads/main')).toBe(repository.git('rev-parse', 'main').trim())
  })

  it('not through a link, and not by a file that says something else', () => {
    const { top } = Repository.committed()
    const dir = temporaryDir()
    symlinkSync(join(top, '.git'), join(dir, '.git'))
    expect(findRepository(dir)).toBeNull()
    rmSync(join(dir, '.git'))
    writeFileSync(join(dir, '.git'), 'gitdir\n')
    expect(findRepository(dir)).toBeNull()
  })
})

describe('references', () => {
  it('loose, packed, and loose over packed are what git says they are', () => {
    const repository = Repository.committed()
    repository.git('branch', 'feature/ä-1')
    repository.git('tag', '-a', '-m', 'x', 'v1')
    repository.git('pack-refs', '--all')
    repository.write('file', 'two\n').commit('second')
    repository.git('branch', 'loose')
    const { top } = repository
    const names = repository.git('for-each-ref', '--format=%(refname)').trim().split('\n')
    expect(names).toContain('refs/heads/feature/ä-1')
    for (const name of names)
      expect(readRef(found(top), name), name).toBe(repository.git('rev-parse', name).trim())
    expect(readRef(found(top), 'HEAD')).toBe(repository.git('rev-parse', 'HEAD').trim())
    expect(listRefs(found(top), 'refs/heads')).toEqual(names.filter((name) => name.startsWith('refs/heads/')))
    repository.git('checkout', '-q', '--detach')
    expect(readHead(found(top))).toBeNull()
    expect(readRef(found(top), 'HEAD')).toBe(repository.git('rev-parse', 'HEAD').trim())
  })

  it('that are links, folders, large or something else are none', () => {
    const repository = Repository.committed()
    const { top, home } = repository
    const heads = join(top, '.git/refs/heads')
    renameSync(join(heads, 'main'), join(home, 'elsewhere'))
    symlinkSync(join(home, 'elsewhere'), join(heads, 'main'))
    mkdirSync(join(heads, 'folder'))
    writeFileSync(join(heads, 'text'), 'not an id\n')
    writeFileSync(join(heads, 'symbolic'), 'ref: refs/heads/text\n')
    writeFileSync(join(heads, 'large'), 'a'.repeat(1 << 20))
    writeFileSync(
      join(top, '.git/packed-refs'),
      `${'a'.repeat(40)} refs/heads/../../x\n${'b'.repeat(39)} refs/heads/short\n`,
    )
    for (const name of ['main', 'folder', 'text', 'symbolic', 'large', '../../x', 'short'])
      expect(readRef(found(top), `refs/heads/${name}`), name).toBeNull()
    expect(listRefs(found(top), 'refs/heads')).toEqual(
      ['large', 'symbolic', 'text'].map((name) => `refs/heads/${name}`),
    )
  })

  test.each([
    ['refs/heads/main', true],
    ['refs/heads/a/b-c_d.e', true],
    ['refs/heads/@', true],
    ['HEAD', false],
    ['refs', false],
    ['refs/', false],
    ['refs/heads/', false],
    ['refs/heads//x', false],
    ['refs/../x', false],
    ['refs/heads/..', false],
    ['refs/heads/.hidden', false],
    ['refs/heads/x.lock', false],
    ['refs/heads/x.', false],
    ['refs/heads/a b', false],
    ['refs/heads/a\nb', false],
    ['refs/heads/a:b', false],
    ['refs/heads/*', false],
    ['refs/heads/a@{1}', false],
    ['/refs/heads/x', false],
  ])('%j is a name: %s', (name, expected) => {
    expect(isRefName(name)).toBe(expected)
  })
})

describe('folders of objects', () => {
  const withPack = (...folders: string[]) => folders.flatMap((folder) => [folder, join(folder, 'pack')])
  const alternates = (top: string) => join(top, '.git/objects/info/alternates')

  it('are those of the repository and of all from which it borrows', () => {
    const [first, second, third] = [Repository.committed(), Repository.committed(), Repository.committed()]
    const objects = (repository: Repository) => join(repository.top, '.git/objects')
    expect(listObjectFolders(found(first.top))).toEqual(withPack(objects(first)))
    writeFileSync(alternates(first.top), `# comment\n${objects(second)}\n`)
    writeFileSync(alternates(second.top), `${objects(third)}\n`)
    writeFileSync(alternates(third.top), `${objects(first)}\n`)
    expect(listObjectFolders(found(first.top))).toEqual(
      withPack(objects(first), objects(second), objects(third)),
    )
  })

  it('cannot be told if the list is a link, or if there are many', () => {
    const { top, home } = Repository.committed()
    writeFileSync(alternates(top), ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `/${name}\n`).join(''))
    expect(listObjectFolders(found(top))).toBeNull()
    renameSync(alternates(top), join(home, 'list'))
    symlinkSync(join(home, 'list'), alternates(top))
    expect(listObjectFolders(found(top))).toBeNull()
  })
})
