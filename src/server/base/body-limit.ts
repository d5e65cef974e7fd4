/** Limits of request bodies. A longer body is refused without reading the rest. */
import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { RepriseError } from '../../contract/errors.ts'

const LIMITS = {
  general: {
    bytes: 16 * 1024 * 1024,
    says: '16 MiB',
    hint: 'Put large material into a file in the work directory and name it in the prompt.',
  },
  /** An event is given to an agent as a whole. */
  event: {
    bytes: 256 * 1024,
    says: '256 KiB',
    hint: 'Send what the agent needs to start, and where it finds the rest.',
  },
  /** Anybody can send it, without a token. */
  small: { bytes: 4 * 1024, says: '4 KiB', hint: 'Send only what the operation takes.' },
} as const

export function limitBody(kind: keyof typeof LIMITS): MiddlewareHandler {
  const { bytes, says, hint } = LIMITS[kind]
  return bodyLimit({
    maxSize: bytes,
    onError: (c) => {
      // The rest of the body is not read, so the connection cannot be used again.
      c.header('Connection', 'close')
      throw new RepriseError('payload-too-large', `body: expected at most ${says}`, { hint })
    },
  })
}
