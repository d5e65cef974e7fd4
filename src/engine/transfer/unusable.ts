import { RepriseError } from '../../contract/errors.ts'

/** The error for a file that is not an export, or is damaged. */
export function unusable(why: string, cause?: unknown): RepriseError {
  return new RepriseError('bad-request', `this is not a complete export of a session: ${why}`, {
    hint: 'Nothing was imported. Export the session again: reprise sessions export ID -o FILE',
    ...(cause === undefined ? {} : { cause }),
  })
}
