/**
 * Any sequence of edits, checkpoints and restores: a restore brings back exactly what was there and does not change
 * git's own state, and what it overwrote or removed is in the checkpoint that it saved first.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { captureTree } from '../../../src/process/git/capture.ts'
import { type Checkpoint, commitCheckpoint } from '../../../src/process/git/checkpoints.ts'
import { restore } from '../../../src/process/git/restore.ts'
import { announceSeed } from '../../core/random.ts'
import { Repository } from './repository.ts'

/** Path → content, as text. Folders count only through their files. */
type Picture = Map<string, string>

type Step =
  | { do: 'write'; path: string; content: string; executable: boolean }
  | { do: 'link'; path: string; target: string }
  | { do: 'delete'; path: string }
  | { do: 'folder'; path: string }
  | { do: 'git'; args: string[] }
  | { do: 'checkpoint' }
  | { do: 'restore'; which: number }

const part = fc.constantFrom('a', 'b', 'dir', 'with space', 'new\nline', 'ünï', '-x', '*', 'c.ign', 'ign')
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const content = fc.constantFrom('', '1', '2', 'x\r\ny\n', 'long\n'.repeat(50), '\u0000\u0001')

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('write' as const), path, content, executable: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('link' as const),
      path,
      target: fc.constantFrom('a', '.', '..', '/nowhere', '../../outside'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('folder' as const), path }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Step>(
      { do: 'git', args: ['add', '--all'] },
      { do: 'git', args: ['commit', '--quiet', '--allow-empty', '--all', '--message', 'c'] },
      { do: 'git', args: ['rm', '-r', '--cached', '--quiet', '--ignore-unmatch', 'a', 'dir'] },
    ),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'checkpoint' }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('restore' as const), which: fc.nat(5) }) },
)

/** Files with such names are ignored, and so is everything in a folder with such a name. None is tracked. */
const isIgnored = (name: string) => name.split('/').some((part) => part === 'c.ign' || part === 'ign')

function picture(top: string, folder = ''): Picture {
  const found: Picture = new Map()
  for (const name of readdirSync(join(top, folder))) {
    const path = folder === '' ? name : `${folder}/${name}`
    if (path === '.git') continue
    const stats = lstatSync(join(top, path))
    if (stats.isDirectory()) for (const [inner, what] of picture(top, path)) found.set(inner, what)
    else if (stats.isSymbolicLink()) found.set(path, `link ${readlinkSync(join(top, path))}`)
    else found.set(path, `${stats.mode & 0o100 ? 'run' : 'file'} ${readFileSync(join(top, path), 'latin1')}`)
  }
  return found
}

const visible = (all: Picture): Picture => new Map([...all].filter(([name]) => !isIgnored(name)))

/** The content of a commit, in the same form. */
function pictureOf(repository: Repository, commit: string): Picture {
  const found: Picture = new Map()
  for (const line of repository.git('ls-tree', '-r', '-z', commit).split('\0').filter(Boolean)) {
    const [meta = '', name = ''] = line.split('\t')
    const [mode, , oid = ''] = meta.split(' ')
    const text = Buffer.from(repository.git('cat-file', 'blob', oid)).toString('latin1')
    found.set(name, mode === '120000' ? `link ${text}` : `${mode === '100755' ? 'run' : 'file'} ${text}`)
  }
  return found
}

/** Follows no symlink, so that the test's own edits stay in the work tree. */
function clearWay(top: string, path: string): void {
  const parts = path.split('/')
  for (let i = 1; i < parts.length; i++) {
    const folder = join(top, ...parts.slice(0, i))
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(folder)
  }
}

function edit(repository: Repository, change: Step): void {
  if (!('path' in change)) return
  const at = repository.path(change.path)
  clearWay(repository.top, change.path)
  if (change.do !== 'folder') rmSync(at, { recursive: true, force: true })
  mkdirSync(dirname(at), { recursive: true })
  if (change.do === 'write') {
    writeFileSync(at, change.content)
    chmodSync(at, change.executable ? 0o755 : 0o644)
  } else if (change.do === 'link') symlinkSync(change.target, at)
  else if (change.do === 'folder' && !lstatSync(at, { throwIfNoEntry: false })) mkdirSync(at)
}

async function play(steps: readonly Step[]): Promise<void> {
  const repository = Repository.create()
  mkdirSync(join(repository.home, 'outside'))
  writeFileSync(join(repository.home, 'outside/a'), 'not ours')
  writeFileSync(repository.path('.git/info/exclude'), 'c.ign\nign\n')
  const workTree = await repository.workTree()
  const taken: { checkpoint: Checkpoint; was: Picture }[] = []
  try {
    for (const change of steps) {
      if (change.do === 'git') repository.tryGit(...change.args)
      else if (change.do === 'checkpoint') {
        const before = repository.untouchable()
        const then = picture(repository.top)
        const checkpoint = await commitCheckpoint(workTree, {
          jobId: 'job_1',
          tree: await captureTree(workTree),
          message: 'm',
        })
        expect(pictureOf(repository, checkpoint.commit)).toEqual(visible(then))
        expect(picture(repository.top)).toEqual(then)
        expect(repository.untouchable()).toEqual(before)
        taken.push({ checkpoint, was: visible(then) })
      } else if (change.do === 'restore') {
        const goal = taken[change.which % Math.max(taken.length, 1)]
        if (!goal) continue
        const before = repository.untouchable()
        const present = picture(repository.top)
        const saveAs = { jobId: 'job_1', message: 'saved' }
        const { saved } = await restore(workTree, { commit: goal.checkpoint.commit, saveAs })
        const now = picture(repository.top)
        expect(visible(now)).toEqual(goal.was)
        expect(repository.untouchable()).toEqual(before)
        const kept = saved ? pictureOf(repository, saved.commit) : new Map()
        for (const [name, what] of present) {
          if (now.get(name) !== what) expect([name, kept.get(name)]).toEqual([name, what])
        }
        if (saved) taken.push({ checkpoint: saved, was: visible(kept) })
      } else edit(repository, change)
    }
    expect(readdirSync(join(repository.home, 'outside'))).toEqual(['a'])
  } finally {
    rmSync(repository.home, { recursive: true, force: true })
  }
}

it('any edits, checkpoints and restores', { timeout: 300_000 }, async () => {
  const steps = fc.array(step, { minLength: 8, maxLength: 30 })
  const numRuns = Number(process.env.REPRISE_TEST_RUNS ?? 12)
  await fc.assert(fc.asyncProperty(steps, play), { seed: announceSeed(), numRuns, endOnFailure: false })
})
