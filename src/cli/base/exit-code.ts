/** The exit codes that scripts rely on. */
import type { ErrorCode } from '../../contract/errors.ts'

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  daemonUnreachable: 3,
  agentUnavailable: 4,
  interrupted: 130,
} as const

const BY_ERROR: Partial<Readonly<Record<ErrorCode, number>>> = {
  usage: EXIT.usage,
  'bad-request': EXIT.usage,
  'daemon-unreachable': EXIT.daemonUnreachable,
  'agent-unavailable': EXIT.agentUnavailable,
  'agent-unknown': EXIT.agentUnavailable,
}

export function exitCodeOf(code: ErrorCode): number {
  return BY_ERROR[code] ?? EXIT.failed
}
