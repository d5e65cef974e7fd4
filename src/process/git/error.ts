/** Errors of git operations, with a message for people and a `kind` for code. */
export type GitErrorKind =
  | 'git-missing'
  | 'timed-out'
  /** The repository belongs to another user and is not marked as safe. */
  | 'untrusted'
  | 'read-only'
  | 'disk-full'
  /** A file of the work tree cannot be read, so it cannot be saved. */
  | 'unreadable'
  /** A checkpoint, or an object in it, is no longer in the repository. */
  | 'missing-object'
  /** A merge, rebase or similar is in progress that was not in progress at the checkpoint. */
  | 'unfinished'
  /** The path of a file is occupied by something that could not be saved first. */
  | 'in-the-way'
  /** The work tree keeps changing during the operation. */
  | 'changing'
  | 'failed'

export class GitError extends Error {
  override readonly name = 'GitError'
  readonly kind: GitErrorKind
  readonly hint: string | undefined

  constructor(kind: GitErrorKind, message: string, extra: { hint?: string; cause?: unknown } = {}) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause })
    this.kind = kind
    this.hint = extra.hint
  }
}

const DETAIL_CHARS = 2000

/** Classifies an error by what git printed. LC_ALL=C makes its messages stable. */
export function explainFailure(what: string, stderr: string): GitError {
  const detail = stderr.trim().slice(0, DETAIL_CHARS) || 'no message'
  const make = (kind: GitErrorKind, reason: string, hint?: string) =>
    new GitError(kind, `${what}: ${reason} (git: ${detail})`, hint === undefined ? {} : { hint })

  if (/dubious ownership/.test(stderr)) {
    return make(
      'untrusted',
      'the repository belongs to another user, so git refuses to use it',
      'If you trust it: git config --global --add safe.directory <directory>',
    )
  }
  if (/No space left on device|Disk quota exceeded/.test(stderr)) {
    return make('disk-full', 'there is no space left on the disk', 'Free some space. Nothing was changed.')
  }
  if (/Read-only file system|insufficient permission for adding an object/.test(stderr)) {
    return make('read-only', 'the repository cannot be written')
  }
  if (
    /unable to index file|unable to process path|could not open directory|Permission denied/i.test(stderr)
  ) {
    return /\.git\/|unable to create|unable to write/.test(stderr)
      ? make('read-only', 'the repository cannot be written')
      : make('unreadable', 'a file cannot be read, so it cannot be saved')
  }
  if (
    /bad object|bad revision|not a valid object|unable to read|Not a valid|missing object|invalid object/i.test(
      stderr,
    )
  ) {
    return make('missing-object', 'it is no longer in the repository')
  }
  return make('failed', 'git failed')
}
