import { RepriseError } from '../contract/errors.ts'

export function closedError(): RepriseError {
  return new RepriseError('closed', 'this Reprise has been closed', {
    hint: 'Open another one with `openReprise`. Runs that were left running continue there, or in a daemon.',
  })
}
