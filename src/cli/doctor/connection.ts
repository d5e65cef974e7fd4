/**
 * Whether the address that an agent talks to can be reached: a connection is opened, with TLS where the address says so,
 * and closed again. Nothing is sent, so this says nothing about the login.
 */
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Agent } from '../../contract/agent.ts'
import { type Check, fail, ok } from './check.ts'

const TIMEOUT_MS = 3000

/** One check for each address. Agents whose address is not known, or that talk to the simulator, are left out. */
export async function checkConnections(agents: readonly Agent[]): Promise<Check[]> {
  const users = Map.groupBy(
    agents.filter(({ available, simulated, connectsTo }) => available && !simulated && connectsTo !== null),
    ({ connectsTo }) => connectsTo ?? '',
  )
  return Promise.all(
    [...users].map(async ([address, by]) => {
      const names = by.map(({ name }) => name).join(', ')
      const problem = await tryConnection(address)
      if (problem === null) return ok('connection', `${address} can be reached (for ${names})`)
      return fail(
        'connection',
        `${address} cannot be reached (for ${names}): ${problem}`,
        'Check the address (ANTHROPIC_BASE_URL), the network and the proxy (HTTPS_PROXY).',
      )
    }),
  )
}

/** null: it worked. */
export function tryConnection(address: string, timeoutMs = TIMEOUT_MS): Promise<string | null> {
  const { protocol, hostname, port } = new URL(address)
  const isTls = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const to = { host, port: Number(port || (isTls ? 443 : 80)) }
  return new Promise((resolve) => {
    const socket = isTls ? connectTls({ ...to, servername: host }) : connectTcp(to)
    const end = (problem: string | null) => {
      socket.destroy()
      resolve(problem)
    }
    socket.once(isTls ? 'secureConnect' : 'connect', () => end(null))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
    socket.setTimeout(timeoutMs, () => end(`no answer within ${timeoutMs / 1000} s`))
  })
}
