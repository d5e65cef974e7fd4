/**
 * A temporary git directory for one operation. It uses the user's work tree and object store, but has its own index,
 * HEAD and attributes. Git commands in it cannot touch the user's index or wait for its lock.
 *
 * Its attributes switch off every conversion (line ends, filters such as LFS or nbstripout, keywords, encodings) in
 * both directions: a checkpoint holds the bytes that were on disk. Some conversions would lose data.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examineUntrusted } from '../../files/untrusted.ts'
import { ownConfig } from './own-git-dir.ts'
import type { GitCall, GitOutput } from './run.ts'
import type { WorkTree } from './work-tree.ts'

export interface Shadow {
  workTree: WorkTree
  index: string
  /** The patterns of `.git/info/exclude`. */
  exclude: string
  /** An empty folder for the operation's own use. */
  scratch: string
  run(call: GitCall): Promise<GitOutput>
}

export async function withShadow<T>(workTree: WorkTree, use: (shadow: Shadow) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'reprise-git-'))
  try {
    return await use(await prepare(workTree, dir))
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

const NO_CONVERSION = '* -text !eol !crlf !filter !ident !working-tree-encoding\n'

async function prepare(workTree: WorkTree, dir: string): Promise<Shadow> {
  const [index, scratch] = [join(dir, 'index'), join(dir, 'scratch')]
  for (const folder of ['info', 'refs', 'scratch']) await mkdir(join(dir, folder))
  await writeFile(join(dir, 'HEAD'), 'ref: refs/heads/none\n')
  await writeFile(join(dir, 'config'), ownConfig(workTree.objectFormat))
  await writeFile(join(dir, 'info/attributes'), NO_CONVERSION)
  const exclude = join(dir, 'info/exclude')
  await copyExclude(workTree, exclude)
  const env = {
    GIT_DIR: dir,
    GIT_WORK_TREE: workTree.top,
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(workTree.commonDir, 'objects'),
    GIT_ALLOW_PROTOCOL: 'none',
  }
  return {
    workTree,
    index,
    exclude,
    scratch,
    run: (call) =>
      workTree.git.run({
        cwd: workTree.top,
        timeoutMs: TIMEOUT_MS,
        ...call,
        env: { ...env, ...call.env },
      }),
  }
}

/** The first capture of a large work tree reads every file. */
const TIMEOUT_MS = 600_000

const MAX_EXCLUDE_BYTES = 1 << 20

async function copyExclude({ commonDir }: WorkTree, to: string): Promise<void> {
  const read = await examineUntrusted(join(commonDir, 'info/exclude'), {
    maxBytes: MAX_EXCLUDE_BYTES,
    followLink: true,
  })
  await writeFile(to, read.kind === 'file' ? read.bytes : '')
}
