/**
 * Where a request came from, if a proxy stands in between. `X-Forwarded-For` and `X-Forwarded-Proto` are believed only
 * when the connection comes from an address in `server.trustedProxies`: anybody can send these headers. They decide
 * which address is recorded and whether the cookie is `Secure`, never who may call. Which names are accepted is decided
 * by `server.publicUrl`, not by `X-Forwarded-Host`: a page could send that itself.
 */
import type { Context, MiddlewareHandler } from 'hono'
import { addressOf } from './known-caller.ts'

interface Sender {
  /** null: the request did not come over a socket. */
  address: string | null
  /** The browser reached us, or the proxy, by https. */
  secure: boolean
}

const SENDER = 'sender'

export const senderOf = (c: Context): Sender =>
  (c.get(SENDER) as Sender | undefined) ?? { address: addressOf(c), secure: false }

export function noteSender(
  trustedProxies: readonly string[],
  publicOrigin: string | null,
): MiddlewareHandler {
  const trusted = new Set(trustedProxies.map(plain))
  return async (c, next) => {
    const peer = addressOf(c)
    const proxied = peer !== null && trusted.has(peer)
    const lastProto = lastOf(c.req.header('x-forwarded-proto'))
    const sender: Sender = {
      address: proxied ? (clientOf(c.req.header('x-forwarded-for'), trusted) ?? peer) : peer,
      secure:
        new URL(c.req.url).protocol === 'https:' ||
        (proxied && lastProto === 'https') ||
        isSecureOrigin(c.req.header('origin'), publicOrigin),
    }
    c.set(SENDER, sender)
    await next()
  }
}

/** IPv4 addresses may be written as IPv6. */
const plain = (address: string) => address.replace(/^::ffff:/i, '').toLowerCase()

const listOf = (header: string | undefined) => (header ?? '').split(',').map((part) => part.trim())
const lastOf = (header: string | undefined) => listOf(header).at(-1)?.toLowerCase()

/** Each proxy adds the address it was called from: the last one that is not a trusted proxy is the caller. */
function clientOf(header: string | undefined, trusted: ReadonlySet<string>): string | null {
  const found = listOf(header)
    .map(plain)
    .findLast((address) => !trusted.has(address))
  return found !== undefined && /^[0-9a-f.:]{2,45}$/.test(found) ? found : null
}

const isSecureOrigin = (origin: string | undefined, publicOrigin: string | null) =>
  publicOrigin?.startsWith('https:') === true && origin?.toLowerCase() === publicOrigin
