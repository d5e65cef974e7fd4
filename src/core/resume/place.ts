/**
 * Whether two work directories are one. By their real path, or by what the file system knows them by: a directory that
 * was renamed or moved within its file system has another path and is still the same.
 */
export interface Place {
  /** Real path: symlinks resolved, so that two names of one directory compare equal. */
  workDir: string
  /** Device, inode and time of birth; an inode alone may belong to another directory later. null: not recorded. */
  workDirId: string | null
}

export function isSamePlace(a: Place, b: Place): boolean {
  return a.workDir === b.workDir || (a.workDirId !== null && a.workDirId === b.workDirId)
}

/** What it means for a session to go on there, for people. */
export function describeMove(from: Place, to: Place): string {
  if (from.workDir === to.workDir) return 'it is the directory of the session: the next turn resumes it'
  if (isSamePlace(from, to)) {
    return `it is the directory of the session, which was ${from.workDir}: the next turn resumes it`
  }
  return `it is not the directory of the session (${from.workDir}): the next turn starts fresh, with the whole conversation`
}
