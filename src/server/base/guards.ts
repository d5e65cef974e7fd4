/**
 * Who may call the daemon. Listening on loopback is no protection: any web page can send requests there, and DNS
 * rebinding makes them look local. So the Host must be a name of this machine, an Origin must be the daemon's own, and
 * every operation needs a token (caller.ts), unless the route table says otherwise. Events for watches: see hook-auth.ts.
 */
import { createHash } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { RepriseError } from '../../contract/errors.ts'
import { isLoopback } from '../../core/loopback.ts'

export function guardHost(allowedHosts: readonly string[]): MiddlewareHandler {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()))
  return async (c, next) => {
    const host = c.req.header('host') ?? ''
    const name = hostName(host)
    if (name === null || !(isLoopback(name) || allowed.has(name))) {
      throw new RepriseError(
        'forbidden-origin',
        `Host ${JSON.stringify(host)} is not a name of this daemon`,
        {
          hint: 'Use http://127.0.0.1 or http://localhost with the port, or set server.host to the name you use. Behind a proxy, set server.publicUrl.',
        },
      )
    }
    await next()
  }
}

/** `publicOrigin`: that of the page behind a proxy. */
export function guardOrigin(publicOrigin: string | null): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header('origin')?.toLowerCase()
    const own = [`http://${c.req.header('host')}`.toLowerCase(), publicOrigin]
    // Browsers send no Origin with plain GET requests, but this header.
    const crossSite = c.req.header('sec-fetch-site') === 'cross-site'
    if (crossSite || (origin !== undefined && !own.includes(origin))) {
      throw new RepriseError('forbidden-origin', `requests from ${origin ?? 'other sites'} are refused`, {
        hint: 'Only pages that the daemon itself serves may call it.',
      })
    }
    await next()
  }
}

/** Digests have the same length for any input, so that comparing them takes the same time. */
export const digest = (text: string) => createHash('sha256').update(text).digest()

function hostName(host: string): string | null {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host) ?? []
  return (bracketed ?? plain)?.toLowerCase() ?? null
}
