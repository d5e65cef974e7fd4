/**
 * References: how people name a run, a job, …. A reference is a whole id, its beginning (`run_01JB2`), its end
 * (`K3F9QZ` or `run_K3F9QZ`; the end is the part in which two ids differ most), or `last` for the newest one.
 *
 * The CLI imports this file at run time, so it must not import zod.
 */
export const REFERABLE = ['run', 'job', 'conversation', 'session', 'watch', 'cycle', 'follow-up'] as const
export type Referable = (typeof REFERABLE)[number]

export const PREFIX_OF: Readonly<Record<Referable, string>> = {
  run: 'run',
  job: 'job',
  conversation: 'cnv',
  session: 'ses',
  watch: 'wch',
  cycle: 'cyc',
  'follow-up': 'fup',
}

/** The least number of characters after the prefix. Fewer would name anything. */
export const LEAST_CHARS = 4
/** The characters after the prefix in a short form. */
const SHORT_CHARS = 6
const WHOLE_CHARS = 26

export interface Reference {
  /** Null if the reference has no prefix. */
  kind: Referable | null
  /** The characters after the prefix, as they are in ids. */
  body: string
  isWhole: boolean
}

/** Returns null for a text that is not a reference. `last` has no body. */
export function parseReference(text: string): Reference | null {
  if (text.toLowerCase() === 'last') return { kind: null, body: '', isWhole: false }
  const [, prefix, body = ''] = /^(?:([a-z]{3})_)?([0-9a-hjkmnp-tv-z]{4,26})$/i.exec(text) ?? []
  if (body === '') return null
  const kind = prefix === undefined ? null : (kindOf(prefix.toLowerCase()) ?? undefined)
  if (kind === undefined) return null
  return { kind, body: body.toUpperCase(), isWhole: kind !== null && body.length === WHOLE_CHARS }
}

/** The kind of things whose ids begin so; null if there is none. */
export function kindOf(prefix: string): Referable | null {
  return REFERABLE.find((kind) => PREFIX_OF[kind] === prefix) ?? null
}

/** `run_K3F9QZ`: long enough to be unique among some ten thousand, and accepted wherever an id is. */
export function shortId(id: string): string {
  const at = id.indexOf('_') + 1
  return id.length - at <= SHORT_CHARS ? id : `${id.slice(0, at)}${id.slice(-SHORT_CHARS)}`
}
