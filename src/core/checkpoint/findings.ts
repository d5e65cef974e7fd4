/** What was found in a git work tree when an agent is about to go on in it. */
export type Unfinished = 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect' | 'am'

export interface ChangedPath {
  status: 'added' | 'modified' | 'deleted' | 'type-changed'
  path: string
}

export interface Findings {
  /** A git operation that somebody began and has not ended. */
  unfinished: Unfinished | null
  /** Files with conflicts: unmerged in the index, or with conflict markers in them. */
  conflicted: string[]
  /** Against the checkpoint; the first of them. */
  changed: ChangedPath[]
  changedTotal: number
  /** null as an end: no commit yet. */
  headMoved: { from: string | null; to: string | null } | null
  /** The work tree as it is now. */
  tree: string
}
