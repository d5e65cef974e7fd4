/** Finds the paths that the ignore rules of a tree exclude, as opposed to the rules that are now in the work tree. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { joinNul, type RawPath, splitNul } from './paths.ts'
import type { Shadow } from './shadow.ts'
import { inRepository } from './work-tree.ts'

export async function findIgnoredThen(
  { workTree, run, scratch }: Shadow,
  tree: string,
  paths: readonly RawPath[],
): Promise<Set<RawPath>> {
  if (paths.length === 0) return new Set()
  const what = 'could not read the ignore rules of the checkpoint'
  // A work tree that contains only the ignore files.
  const top = join(scratch, 'rules')
  await rm(top, { recursive: true, force: true })
  await mkdir(top)
  const call = { what, cwd: top, env: { GIT_WORK_TREE: top, GIT_INDEX_FILE: join(scratch, 'rules-index') } }
  const files = splitNul((await inRepository(workTree, { args: ['ls-tree', '-r', '-z', tree], what })).stdout)
  const rules = files.filter((line) => /[\t/]\.gitignore$/.test(line) && line.startsWith('100'))
  await rm(call.env.GIT_INDEX_FILE, { force: true })
  // `--index-info` accepts lines of the form "<mode> <type> <oid>\t<path>".
  await run({ ...call, args: ['update-index', '-z', '--index-info'], input: joinNul(rules) })
  await run({ ...call, args: ['checkout-index', '--all', '--force'] })
  const { stdout } = await run({
    ...call,
    args: ['check-ignore', '--no-index', '-z', '--stdin'],
    input: joinNul(paths),
    answers: [1],
  })
  const tracked = new Set(
    splitNul((await inRepository(workTree, { args: ['ls-files', '-z', '--cached'], what })).stdout),
  )
  return new Set(splitNul(stdout).filter((path) => !tracked.has(path)))
}
