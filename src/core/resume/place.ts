/**
 * Decides whether two work directories are the same: by their real path, or by their identity in the file system. A
 * directory that was renamed or moved within its file system has another path and is still the same.
 */
export interface Place {
  /** Real path: symlinks resolved, so that two names of one directory compare equal. */
  workDir: string
  /** Device, inode and birth time; an inode alone may be reused for another directory. null: not recorded. */
  workDirId: string | null
}

export function isSamePlace(a: Place, b: Place): boolean {
  return a.workDir === b.workDir || (a.workDirId !== null && a.workDirId === b.workDirId)
}

/** A message for people: what a move of the conversation means for the session. */
export function describeMove(from: Place, to: Place): string {
  if (from.workDir === to.workDir) return 'it is the directory of the session: the next turn resumes it'
  if (isSamePlace(from, to)) {
    return `it is the directory of the session, which was ${from.workDir}: the next turn resumes it`
  }
  return `it is not the directory of the session (${from.workDir}): the next turn starts a new session with the whole conversation`
}
