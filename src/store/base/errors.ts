/** Errors that the store throws, independent of the database. */
import { RepriseError } from '../../contract/errors.ts'

/** A guarded write found that another process owns the row now. The caller must stop working on it. */
export class OwnershipLost extends Error {
  override readonly name = 'OwnershipLost'
  constructor(what: string) {
    super(`${what} is owned by someone else now`)
  }
}

/** The question was edited after the ending of its attempt was computed. The caller computes the ending again. */
export class QuestionEdited extends Error {
  override readonly name = 'QuestionEdited'
}

/** The attempt must not start now. The caller prepares it again. */
export class NotNow extends Error {
  override readonly name = 'NotNow'
}

/**
 * Nothing can be stored at present: the disk is full or fails, or the database is locked. The error may be temporary.
 */
export class StorageUnavailable extends RepriseError {
  constructor(what: string, cause: unknown) {
    const hint = 'Free disk space, or make the home writable again. Agent output may be lost until then.'
    super('home-unusable', `cannot store: ${what}`, { hint, cause })
  }
}
