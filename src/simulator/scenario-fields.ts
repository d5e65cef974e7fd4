/**
 * Values that occur in many places of a scenario file: durations, patterns, counts. Each error says what was expected.
 */
import { z } from 'zod'
import type { Pattern } from './scenario-types.ts'

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
export const duration = z.unknown().transform((value, ctx): number => {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/.exec(value.trim()) : null
  if (match) return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  return refuse(ctx, `expected a duration such as 500ms, 3s, 2m or 1h, found ${show(value)}`)
})

export const pattern = z.unknown().transform((value, ctx): Pattern => {
  if (value instanceof RegExp)
    return { kind: 'regex', regex: new RegExp(value.source, value.flags.replace(/[gy]/g, '')) }
  if (typeof value !== 'string')
    return refuse(ctx, `expected a text to find or a /regex/, found ${show(value)}`)
  const regex = /^\/(.+)\/([a-z]*)$/s.exec(value)
  if (!regex) return { kind: 'text', text: value }
  try {
    return { kind: 'regex', regex: new RegExp(regex[1] ?? '', (regex[2] ?? '').replace(/[gy]/g, '')) }
  } catch (error) {
    return refuse(ctx, `expected a valid /regex/: ${(error as Error).message}`)
  }
})

export const patterns = z
  .unknown()
  .transform((value) => (Array.isArray(value) ? value : [value]))
  .pipe(z.array(pattern))

export const times = z.int().min(1).default(Number.POSITIVE_INFINITY)
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  return JSON.stringify(value)?.slice(0, 60) ?? String(value)
}

interface IssueSink {
  addIssue(issue: { code: 'custom'; message: string }): void
}

export function refuse(ctx: IssueSink, message: string): never {
  ctx.addIssue({ code: 'custom', message })
  return z.NEVER
}
