import { isLoopback } from '../core/loopback.ts'

/** A warning about an address that other machines can reach; null if only this machine can. */
export function describeExposure(host: string): string | null {
  if (isLoopback(host.toLowerCase())) return null
  return `${host} can be reached from other machines: anybody with the token can run any command here, and the token is sent unencrypted.`
}

export const KEEP_LOCAL = 'Set server.host to 127.0.0.1, unless this is intended.'
