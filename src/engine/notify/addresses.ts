/**
 * Which addresses a webhook may be sent to. Public ones always; all others (this machine, private networks, link-local
 * ones with the metadata services of clouds) only if the configuration names them. The check is made on the address that
 * is connected to, after the name was resolved, so that a name cannot be made to point elsewhere in between.
 */
import { type LookupAddress, type LookupOptions, lookup as resolveName } from 'node:dns'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'

/** From the IANA registries of special-purpose addresses. */
const NOT_PUBLIC_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
/** Within 2000::/3, the only range of public addresses. */
const NOT_PUBLIC_V6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const
/** NAT64: the last four bytes are an IPv4 address. */
const NAT64 = '64:ff9b::'

const notPublic = new BlockList()
for (const [net, prefix] of NOT_PUBLIC_V4) notPublic.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of NOT_PUBLIC_V6) notPublic.addSubnet(net, prefix, 'ipv6')
const unicast = new BlockList()
unicast.addSubnet('2000::', 3, 'ipv6')
const nat64 = new BlockList()
nat64.addSubnet(NAT64, 96, 'ipv6')

export function isPublicAddress(address: string): boolean {
  const plain = withoutZone(address)
  if (!isIPv6(plain)) return isIP(plain) === 4 && !notPublic.check(plain, 'ipv4')
  if (nat64.check(plain, 'ipv6')) return !notPublic.check(lastFourBytes(plain), 'ipv4')
  // This leaves out IPv4 addresses that are written as IPv6, too.
  return unicast.check(plain, 'ipv6') && !notPublic.check(plain, 'ipv6')
}

const withoutZone = (address: string) => address.replace(/%.*$/s, '')

/** The URL parser writes every address in one form, with the last four bytes in hex. */
function lastFourBytes(address: string): string {
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':')
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The hosts, addresses and networks (`10.0.0.0/8`) that the configuration allows besides public addresses. */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>
  readonly #networks = new BlockList()

  constructor(allow: readonly string[]) {
    const names = new Set<string>()
    for (const entry of allow) {
      const [address = '', prefix] = entry.split('/')
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
      if (isIP(address) === 0) names.add(entry.toLowerCase())
      else if (prefix === undefined) this.#networks.addAddress(address, family)
      else this.#networks.addSubnet(address, Number(prefix), family)
    }
    this.#names = names
  }

  /** `host` is the name that was resolved to the address, or the address itself. */
  allows(host: string, address: string): boolean {
    const plain = withoutZone(address)
    return (
      isPublicAddress(plain) ||
      this.#names.has(host.toLowerCase()) ||
      this.#networks.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
    )
  }
}

export class ForbiddenAddress extends Error {
  constructor(host: string) {
    super(`${host} is not a public address, and webhooks.allow does not name it`)
  }
}

type Resolve = (
  name: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** For a connection: it is made to an address that this returns, so no other one can take its place. */
export function guardedLookup(
  isAllowed: (host: string, address: string) => boolean,
  resolve: Resolve = resolveName,
): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '')
      const allowed = found.filter(({ address }) => isAllowed(host, address))
      const [first] = allowed
      if (!first) return done(new ForbiddenAddress(host), '')
      if (options.all) return done(null, allowed)
      done(null, first.address, first.family)
    })
  }
}
