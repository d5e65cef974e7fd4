/** One POST request. Redirects are not followed, the body of the response is not read, the connection is not kept. */
import { type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type AllowedHosts, ForbiddenAddress, guardedLookup } from './addresses.ts'

export interface Posting {
  url: string
  headers: Record<string, string>
  body: string
  signal: AbortSignal
}

export interface PostOptions {
  allowed: AllowedHosts
  /** The host of the address as it is written, if the configuration allows that one. */
  configuredHost?: string | undefined
  /** Tests resolve names in their own way. */
  resolve?: Parameters<typeof guardedLookup>[1]
}

/** Resolves with the status of the response. Rejects with ForbiddenAddress before anything is sent. */
export async function post(
  { url, headers, body, signal }: Posting,
  { allowed, configuredHost, resolve }: PostOptions,
): Promise<number> {
  const { protocol, hostname } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isAllowed = (name: string, address: string) =>
    name === configuredHost || allowed.allows(name, address)
  // A host that is an address is not looked up.
  if (isIP(host) !== 0 && !isAllowed(host, host)) throw new ForbiddenAddress(host)
  const lookup: LookupFunction = guardedLookup(isAllowed, resolve)
  const options: RequestOptions = { method: 'POST', headers, agent: false, lookup, signal }
  return new Promise((done, reject) => {
    const send = protocol === 'https:' ? requestHttps : requestHttp
    const sending = send(url, options, (response) => {
      done(response.statusCode ?? 0)
      response.on('error', () => {}).destroy()
    })
    sending.on('error', reject).end(body)
  })
}
