/** What a guarded write throws when it must not be done. */

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
