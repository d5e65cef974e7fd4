/**
 * What other systems send, as events. Alertmanager's webhook is understood as it is, and Grafana's, which has the same
 * form: one event for each alert. Any other JSON is one event.
 *
 * An event is firing, or resolved: it is over elsewhere. Its fingerprint is the one it brings, or a hash of what tells
 * it from others: of an alert its labels, of other JSON all of it but whether it fires.
 *
 * Whatever is sent, nothing here throws, and what is kept has a limit: the number of events, the length of titles and
 * fingerprints, the size and the depth of payloads.
 */
import type { WatchEvent } from '../../contract/watch.ts'
import { cut } from '../notify/message.ts'
import { canonicalJson, MAX_LEVELS } from './canonical-json.ts'

export type ReadEvents =
  /** Each fingerprint is in one of the two, once. */
  { ok: true; firing: WatchEvent[]; resolved: string[] } | { ok: false; problem: string }

/** SHA-256 of a text, in hexadecimal. */
export type Hash = (text: string) => string

export const MAX_EVENTS = 100

/** `payload` is what a JSON text was parsed to. */
export function readEvents(payload: unknown, receivedAt: Date, hash: Hash): ReadEvents {
  if (payload === undefined) return refused('there is no payload')
  const alerts = alertsOf(payload)
  if (alerts && alerts.length > MAX_EVENTS) return refused(tooMany(alerts.length))
  // Sent twice at once, the later one counts.
  const byFingerprint = new Map<string, WatchEvent | null>()
  for (const [index, item] of (alerts ?? [payload]).entries()) {
    const json = canonicalJson(item)
    if (json === null) return refused(TOO_DEEP)
    if (alerts && !isObject(item)) return refused(`alerts[${index}] is not an object`)
    const fields = isObject(item) ? item : {}
    const event = {
      fingerprint: alerts ? alertFingerprint(fields, json, hash) : anyFingerprint(fields, json, hash),
      title: shown(alerts ? alertTitle(fields) : (text(fields, ...TITLES) ?? '')),
      receivedAt: receivedAt.toISOString(),
      payload: kept(item, json),
    }
    byFingerprint.set(event.fingerprint, own(fields, 'status') === 'resolved' ? null : event)
  }
  return {
    ok: true,
    firing: [...byFingerprint.values()].filter((event) => event !== null),
    resolved: [...byFingerprint].filter(([, event]) => event === null).map(([fingerprint]) => fingerprint),
  }
}

/** What a person sends along is kept within the same limits, whatever it is. */
export function keepPayload(
  payload: unknown,
): { ok: true; payload: unknown } | { ok: false; problem: string } {
  const json = canonicalJson(payload)
  return json === null ? { ok: false, problem: TOO_DEEP } : { ok: true, payload: kept(payload, json) }
}

const refused = (problem: string): ReadEvents => ({ ok: false, problem })

const TOO_DEEP = `it is nested more than ${MAX_LEVELS} levels deep`

const tooMany = (count: number) =>
  `${count} alerts in one payload; at most ${MAX_EVENTS} are taken. In Alertmanager, max_alerts of the receiver limits them.`

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Only what was sent, not what every object has. */
const own = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

const ownObject = (fields: Fields, name: string): Fields => {
  const value = own(fields, name)
  return isObject(value) ? value : {}
}

/** The first that says something. */
function text(fields: Fields, ...names: string[]): string | null {
  for (const name of names) {
    const value = own(fields, name)
    if (typeof value === 'string' && value.trim() !== '') return value
  }
  return null
}

/** null: it is none of Alertmanager's. */
function alertsOf(payload: unknown): readonly unknown[] | null {
  if (!isObject(payload)) return null
  const alerts = own(payload, 'alerts')
  const known = own(payload, 'version') === '4' || typeof own(payload, 'groupKey') === 'string'
  return known && Array.isArray(alerts) ? alerts : null
}

function alertFingerprint(alert: Fields, json: string, hash: Hash): string {
  const labels = ownObject(alert, 'labels')
  const labelled = Object.keys(labels).length > 0 ? canonicalJson(labels) : null
  return broughtFingerprint(alert, ['fingerprint'], hash) ?? hash(labelled ?? json)
}

const FINGERPRINTS = ['fingerprint', 'dedupKey', 'dedup_key', 'id']
const STATES: readonly unknown[] = ['firing', 'resolved']

function anyFingerprint(fields: Fields, json: string, hash: Hash): string {
  const { status, ...rest } = fields
  const lasting = STATES.includes(status) ? canonicalJson(rest) : null
  return broughtFingerprint(fields, FINGERPRINTS, hash) ?? hash(lasting ?? json)
}

/** What can be stored and shown as it is; another is hashed. */
const PRESENTABLE = /^[^\p{C}]{1,200}$/u

function broughtFingerprint(fields: Fields, names: readonly string[], hash: Hash): string | null {
  for (const name of names) {
    const value = own(fields, name)
    if (typeof value !== 'number' && (typeof value !== 'string' || value.trim() === '')) continue
    const brought = String(value)
    return PRESENTABLE.test(brought) ? brought : hash(brought)
  }
  return null
}

const TITLES = ['title', 'summary', 'message', 'name']
const TITLE_CHARS = 200

function alertTitle(alert: Fields): string {
  const labels = ownObject(alert, 'labels')
  const instance = text(labels, 'instance')
  const summary = text(ownObject(alert, 'annotations'), 'summary', 'description', 'message')
  const name = text(labels, 'alertname') ?? 'alert'
  return `${brief(name)}${instance ? ` (${brief(instance)})` : ''}${summary ? `: ${summary}` : ''}`
}

const brief = (text: string) => cut(text.trim(), TITLE_CHARS / 2)

/** Neither line ends nor what turns the direction of writing: it is shown in lists. */
const UNPRINTABLE = /[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu

function shown(title: string): string {
  const beginning = title.trimStart().slice(0, 4 * TITLE_CHARS)
  return cut(beginning.replace(UNPRINTABLE, ' ').trim() || 'event', TITLE_CHARS)
}

const MAX_PAYLOAD_BYTES = 64 * 1024
/** At up to three bytes each, they fit. */
const EXCERPT_CHARS = 20_000

function kept(payload: unknown, json: string): unknown {
  const bytes = new TextEncoder().encode(json).length
  if (bytes <= MAX_PAYLOAD_BYTES) return payload
  return {
    cut: `This event had ${bytes} bytes of JSON; ${MAX_PAYLOAD_BYTES} are kept at most. The excerpt is how it begins, with its keys sorted.`,
    excerpt: json.slice(0, EXCERPT_CHARS).toWellFormed(),
  }
}
