/** Makes a create request repeatable: the idempotency key that the caller chose, and a hash of the request. */
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../core/watch/canonical-json.ts'
import type { RequestKey } from '../../store/base/request-keys.ts'

export function requestKey(key: string | null | undefined, request: object): RequestKey | null {
  if (!key) return null
  const text = canonicalJson(request) ?? ''
  return { key, requestHash: createHash('sha256').update(text).digest('hex').slice(0, 32) }
}
