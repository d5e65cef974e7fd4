/**
 * Converts the payloads of other systems to events. The payload of an Alertmanager webhook, or of Grafana's in the same
 * format, is one event per alert. Any other JSON is one event.
 *
 * An event is firing or resolved. Its fingerprint is the one in the payload, or a hash: for an alert of its labels, for
 * other JSON of everything except its status.
 *
 * No payload makes these functions throw, and everything that is kept is limited: the number of events, the length of
 * titles and fingerprints, the size and the depth of payloads.
 */
import type { WatchEvent } from '../../contract/cycle.ts'
import { cut } from '../notify/message.ts'
import { canonicalJson, MAX_LEVELS } from './canonical-json.ts'

export type ReadEvents =
  /** Each fingerprint occurs once, in one of the two lists. */
  { ok: true; firing: WatchEvent[]; resolved: string[] } | { ok: false; problem: string }

/** SHA-256 of a text, in hexadecimal. */
export type Hash = (text: string) => string

export const MAX_EVENTS = 100

/** `payload` is parsed JSON. */
export function readEvents(payload: unknown, receivedAt: Date, hash: Hash): ReadEvents {
  if (payload === undefined) return refused('there is no payload')
  const alerts = alertsOf(payload)
  if (alerts && alerts.length > MAX_EVENTS) return refused(tooMany(alerts.length))
  // If a payload contains an event twice, the later one counts.
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

/** Applies the limits of events to the payload of a trigger by a person. */
export function keepPayload(
  payload: unknown,
): { ok: true; payload: unknown } | { ok: false; problem: string } {
  const json = canonicalJson(payload)
  return json === null ? { ok: false, problem: TOO_DEEP } : { ok: true, payload: kept(payload, json) }
}

const refused = (problem: string): ReadEvents => ({ ok: false, problem })

const TOO_DEEP = `it is nested more than ${MAX_LEVELS} levels deep`

const tooMany = (count: number) =>
  `${count} alerts in one payload; at most ${MAX_EVENTS} are accepted. In Alertmanager, max_alerts of the receiver limits them.`

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads own properties only, not those of the prototype. */
const own = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

const ownObject = (fields: Fields, name: string): Fields => {
  const value = own(fields, name)
  return isObject(value) ? value : {}
}

/** The first of these fields with a text that is not blank. */
function text(fields: Fields, ...names: string[]): string | null {
  for (const name of names) {
    const value = own(fields, name)
    if (typeof value === 'string' && value.trim() !== '') return value
  }
  return null
}

/** null: the payload is not one of Alertmanager. */
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

/** A fingerprint that can be stored and shown as it is; any other is hashed. */
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

/** Titles are shown in lists, so they contain no line ends and no characters that change the text direction. */
const UNPRINTABLE = /[\s\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu

function shown(title: string): string {
  const beginning = title.trimStart().slice(0, 4 * TITLE_CHARS)
  return cut(beginning.replace(UNPRINTABLE, ' ').trim() || 'event', TITLE_CHARS)
}

const MAX_PAYLOAD_BYTES = 64 * 1024
/** With up to three bytes per character, this is below MAX_PAYLOAD_BYTES. */
const EXCERPT_CHARS = 20_000

function kept(payload: unknown, json: string): unknown {
  const bytes = new TextEncoder().encode(json).length
  if (bytes <= MAX_PAYLOAD_BYTES) return payload
  return {
    cut: `This event had ${bytes} bytes of JSON; ${MAX_PAYLOAD_BYTES} are kept at most. The excerpt is how it begins, with its keys sorted.`,
    excerpt: json.slice(0, EXCERPT_CHARS).toWellFormed(),
  }
}
