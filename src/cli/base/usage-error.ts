import { RepriseError } from '../../contract/errors.ts'

export function usageError(message: string, hint?: string): RepriseError {
  return new RepriseError('usage', message, hint === undefined ? {} : { hint })
}
