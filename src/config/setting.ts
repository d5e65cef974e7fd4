/**
 * Building blocks of the schema. Each setting states once what it expects and what it is for. Error messages, the JSON
 * Schema and the reference in docs/configuration.md come from that.
 */
import { z } from 'zod'
import { parseDurationMs, parseSizeBytes } from '../contract/quantity.ts'

const expectations = z.registry<{ expected: string }>()

/** What a setting expects, in words that complete "expected …". */
export function expectationOf(schema: z.core.$ZodType): string | undefined {
  return expectations.get(schema)?.expected
}

export function setting<S extends z.ZodType>(schema: S, expected: string, description: string): S {
  const described = schema.describe(description)
  expectations.add(described, { expected })
  return described
}

type Bounds = { min?: string; max?: string }

/** `setTimeout` fires at once if the delay is longer. */
export const LONGEST_TIMER = '24d'

export function duration(description: string, { min = '1ms', max = LONGEST_TIMER }: Bounds = {}) {
  const expected = `a duration with a unit, such as 500ms, 30s, 10m, 24h or 7d, from ${min} to ${max}`
  return quantity(z.string(), parseDurationMs, { min, max }, expected, description)
}

/** How long something is kept. */
export function retention(description: string) {
  const bounds = { min: '0ms', max: '3650d' }
  const expected = `a duration with a unit, such as 12h or 90d, from ${bounds.min} to ${bounds.max}, or forever`
  const schema = z.union([
    z.literal('forever'),
    quantity(z.string(), parseDurationMs, bounds, expected, description),
  ])
  return setting(schema, expected, description)
}

export function size(description: string, { min = '1KiB', max = '1024GiB' }: Bounds = {}) {
  const expected = `a size such as 512KiB, 8MiB or 1GiB (or a number of bytes), from ${min} to ${max}`
  return quantity(z.union([z.string(), z.number()]), parseSizeBytes, { min, max }, expected, description)
}

function quantity<Written extends z.ZodType<string | number>>(
  written: Written,
  parse: (text: string) => number | undefined,
  bounds: Required<Bounds>,
  expected: string,
  description: string,
) {
  const min = parse(bounds.min) ?? 0
  const max = parse(bounds.max) ?? Number.POSITIVE_INFINITY
  const schema = written.transform((value, context) => {
    const amount = typeof value === 'number' ? Math.round(value) : parse(value)
    if (amount !== undefined && amount >= min && amount <= max) return amount
    context.addIssue({ code: 'custom', message: expected })
    return z.NEVER
  })
  return setting(schema, expected, description)
}

export function wholeNumber(description: string, { min, max }: { min: number; max: number }) {
  return setting(z.int().min(min).max(max), `a whole number from ${min} to ${max}`, description)
}

export function text(description: string) {
  return setting(z.string().trim().min(1), 'a text that is not empty', description)
}
