import { isLoopback } from '../core/loopback.ts'

/** What it means that the daemon listens there; null if only this machine can reach it. */
export function describeExposure(host: string): string | null {
  if (isLoopback(host.toLowerCase())) return null
  return `${host} can be reached from other machines: whoever has the token may run anything here, and it is sent unencrypted.`
}

export const KEEP_LOCAL = 'Set server.host to 127.0.0.1, unless it is meant to be so.'
