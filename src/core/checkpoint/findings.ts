/** The state of a git work tree in which an agent is about to continue. */
export type Unfinished = 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect' | 'am'

export interface ChangedPath {
  status: 'added' | 'modified' | 'deleted' | 'type-changed'
  path: string
}

export interface Findings {
  /** A git operation that was started and not finished. */
  unfinished: Unfinished | null
  /** Files with conflicts: unmerged in the index, or with conflict markers in them. */
  conflicted: string[]
  /** The first paths that differ from the checkpoint; `changedTotal` counts all. */
  changed: ChangedPath[]
  changedTotal: number
  /** `from` or `to` is null if there was no commit yet. */
  headMoved: { from: string | null; to: string | null } | null
  /** The git tree id of the present work tree. */
  tree: string
}
