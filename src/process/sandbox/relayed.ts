/** Puts the relay around an agent and around its sandbox (relay.ts), so that only the address of its model can be reached. */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SandboxCommand } from './sandbox.ts'

const RELAY = fileURLToPath(new URL(`relay${extname(import.meta.url)}`, import.meta.url))
/** The port of a proxy inside. The network namespace has no other listeners. */
const PROXY_PORT = 3128

/** How an address is reached from inside; or why it cannot be. */
export type Route =
  | {
      ok: true
      host: string
      port: number
      mode: 'raw' | 'connect'
      innerPort: number
      env: Record<string, string>
    }
  | { ok: false; problem: string }

export function routeTo(address: string | null): Route {
  if (address === null || !URL.canParse(address))
    return { ok: false, problem: 'the address of the model is not known, or is reached through a proxy' }
  const { protocol, hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '')
  const number = Number(port || (protocol === 'https:' ? 443 : 80))
  if (protocol === 'https:') {
    const proxy = `http://127.0.0.1:${PROXY_PORT}`
    const env = { HTTPS_PROXY: proxy, https_proxy: proxy, NO_PROXY: '', no_proxy: '' }
    return { ok: true, host, port: number, mode: 'connect', innerPort: PROXY_PORT, env }
  }
  if (host === '127.0.0.1' || host === 'localhost')
    return { ok: true, host, port: number, mode: 'raw', innerPort: number, env: {} }
  return { ok: false, problem: `the address of the model, ${address}, is on another machine and without TLS` }
}

/** Programs that must be visible inside. */
export const RELAY_FILES = [process.execPath, RELAY] as const

/** `dir` is a folder that is visible inside. */
export const insideRelay = (
  { program, args }: SandboxCommand,
  { innerPort }: Extract<Route, { ok: true }>,
  dir: string,
): SandboxCommand => ({
  program: process.execPath,
  args: [RELAY, 'inside', dir, String(innerPort), program, ...args],
})

export const outsideRelay = (
  { program, args }: SandboxCommand,
  { host, port, mode }: Extract<Route, { ok: true }>,
  dir: string,
): SandboxCommand => ({
  program: process.execPath,
  args: [RELAY, 'outside', dir, host, String(port), mode, program, ...args],
})
