/**
 * The steps of a reply. They are distinguished by their one leading key, by hand instead of by a zod union, so that a
 * mistake inside `error:` is reported as such, and not as "matches none of twelve alternatives".
 */
import { z } from 'zod'
import { errorMessageOf, errorTypeOf } from './api-error.ts'
import { nearestWord } from './nearest.ts'
import { duration, refuse, show, times } from './scenario-fields.ts'
import type { Step } from './scenario-types.ts'
import { STOP_REASONS } from './scenario-types.ts'

const orTrue = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === true ? {} : value), schema)

/** One entry per kind of step, by its leading key. */
const STEPS = {
  text: z
    .strictObject({ text: z.string(), pace: duration.default(0) })
    .transform((s): Step => ({ do: 'text', text: s.text, paceMs: s.pace })),
  thinking: z
    .strictObject({ thinking: z.string() })
    .transform((s): Step => ({ do: 'thinking', thinking: s.thinking })),
  tool: z
    .strictObject({ tool: z.string().min(1), input: z.record(z.string(), z.unknown()).default({}) })
    .transform((s): Step => ({ do: 'tool', name: s.tool, input: s.input })),
  wait: z.strictObject({ wait: duration }).transform((s): Step => ({ do: 'wait', waitMs: s.wait })),
  hold: z.strictObject({ hold: z.string().min(1) }).transform((s): Step => ({ do: 'hold', hold: s.hold })),
  stop: z
    .strictObject({ stop: z.enum(STOP_REASONS) })
    .transform((s): Step => ({ do: 'stop', reason: s.stop })),
  await: z.strictObject({ await: z.literal('results') }).transform((): Step => ({ do: 'await-results' })),
  error: z
    .strictObject({
      error: z.strictObject({
        status: z.int().min(400).max(599),
        type: z.string().optional(),
        message: z.string().optional(),
        retryAfter: z.number().min(0).optional(),
        times,
      }),
    })
    .transform(({ error }): Step => {
      const type = error.type ?? errorTypeOf(error.status)
      const message = error.message ?? errorMessageOf(type)
      const wait = error.retryAfter === undefined ? {} : { retryAfterSeconds: error.retryAfter }
      return { do: 'error', status: error.status, type, message, ...wait, times: error.times }
    }),
  cut: z
    .strictObject({ cut: orTrue(z.strictObject({ times })) })
    .transform((s): Step => ({ do: 'cut', times: s.cut.times })),
  overflow: z
    .strictObject({
      overflow: orTrue(
        z.strictObject({ tokens: z.int().min(1).optional(), limit: z.int().min(1).optional(), times }),
      ),
    })
    .transform((s) => ({ do: 'overflow', ...s.overflow }) as Step),
  rateLimit: z
    .strictObject({
      rateLimit: z.strictObject({
        resetsIn: duration,
        claim: z.string().default('five_hour'),
        message: z.string().default(errorMessageOf('rate_limit_error')),
        times,
      }),
    })
    .transform(
      ({ rateLimit: { resetsIn, ...rest } }): Step => ({ do: 'rate-limit', resetsInMs: resetsIn, ...rest }),
    ),
} as const

export const STEP_KEYS = Object.keys(STEPS) as (keyof typeof STEPS)[]

export const step = z.unknown().transform((value, ctx): Step => {
  if (typeof value === 'string') return { do: 'text', text: value, paceMs: 0 }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(ctx, `expected a text or a step (${STEP_KEYS.join(', ')}), found ${show(value)}`)
  }
  const keys = Object.keys(value)
  const kinds = STEP_KEYS.filter((key) => keys.includes(key))
  const [kind] = kinds
  if (kind === undefined) {
    const near = keys.map((key) => nearestWord(key, STEP_KEYS)).find((word) => word !== undefined)
    const hint = near ? `. Did you mean "${near}"?` : ''
    return refuse(
      ctx,
      `expected a step (one of ${STEP_KEYS.join(', ')}), found ${keys.join(', ') || 'nothing'}${hint}`,
    )
  }
  if (kinds.length > 1) {
    return refuse(
      ctx,
      `expected one step, found ${kinds.length} in one entry (${kinds.join(', ')}): start each with its own "-"`,
    )
  }
  const parsed = STEPS[kind].safeParse(value)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) ctx.addIssue({ ...issue } as Parameters<typeof ctx.addIssue>[0])
  return z.NEVER
})
