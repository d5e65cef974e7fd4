/** What the store throws, whichever database is below. */
import { RepriseError } from '../../contract/errors.ts'

/** A guarded write found that someone else owns the row now: stop, it is theirs. */
export class OwnershipLost extends Error {
  override readonly name = 'OwnershipLost'
  constructor(what: string) {
    super(`${what} is owned by someone else now`)
  }
}

/** An ending was worked out for a question that has been edited since: work it out again. */
export class QuestionEdited extends Error {
  override readonly name = 'QuestionEdited'
}

/** An attempt must not start now. What was prepared for it is prepared anew. */
export class NotNow extends Error {
  override readonly name = 'NotNow'
}

/** Nothing can be stored at present: the disk is full or fails, or the database is locked. It may pass. */
export class StorageUnavailable extends RepriseError {
  constructor(what: string, cause: unknown) {
    const hint = 'Make room, or make the home writable again. What agents print meanwhile may be lost.'
    super('home-unusable', `cannot store: ${what}`, { hint, cause })
  }
}
