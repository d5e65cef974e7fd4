/** Detects which git operation is in progress by the files that each one leaves in the git directory. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Unfinished } from '../../core/checkpoint/findings.ts'
import { examineUntrustedSync } from '../../files/untrusted.ts'
import type { WorkTree } from './work-tree.ts'

export type { Unfinished }

/** Outer operations first: a rebase uses cherry-pick, and a cherry-pick may use merge. */
const MARKS: readonly (readonly [string, Unfinished])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['MERGE_HEAD', 'merge'],
  ['BISECT_LOG', 'bisect'],
]

export function readUnfinished({ gitDir }: WorkTree): Unfinished | null {
  return MARKS.find(([mark]) => existsSync(join(gitDir, mark)))?.[1] ?? readSequence(gitDir)
}

/** Between two steps of a sequence of picks or reverts, only the list of remaining steps exists. */
function readSequence(gitDir: string): Unfinished | null {
  const read = examineUntrustedSync(join(gitDir, 'sequencer/todo'), { maxBytes: 16 << 20 })
  if (read.kind !== 'file') return null
  return read.bytes.toString('utf8', 0, 6) === 'revert' ? 'revert' : 'cherry-pick'
}
