import { randomBytes } from 'node:crypto'

/**
 * An id in the vendor's style. Random, because one session may use several simulators and ids must not repeat in it.
 */
export function newId(prefix: string): string {
  return `${prefix}_01${randomBytes(16).toString('base64url').replace(/[-_]/g, 'x').slice(0, 22)}`
}
