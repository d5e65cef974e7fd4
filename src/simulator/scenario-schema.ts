/** The shape of a scenario file, checked strictly: an unknown key is an error that suggests the nearest known one. */
import { z } from 'zod'
import { pattern, patterns, times } from './scenario-fields.ts'
import type { Rule, Scenario, When } from './scenario-types.ts'
import { REQUEST_KINDS } from './scenario-types.ts'
import { STEP_KEYS, step } from './step-schema.ts'

const DEFAULT_MIN_CACHE_TOKENS = 64

const when = z.preprocess(
  (value) => (typeof value === 'string' || value instanceof RegExp ? { user: value } : (value ?? {})),
  z
    .strictObject({
      kind: z.enum([...REQUEST_KINDS, 'any']).default('main'),
      user: pattern.optional(),
      toolResult: pattern.optional(),
      tool: z.string().min(1).optional(),
      model: pattern.optional(),
      session: z.string().min(1).optional(),
      system: pattern.optional(),
      contains: patterns.default([]),
      lacks: patterns.default([]),
    })
    .transform((value) => value as When),
)

const reply = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(step, 'expected a text or a list of steps').min(1, 'expected at least one step'),
)

const rule = z.strictObject({
  name: z.string().min(1).optional(),
  when: when.default({ kind: 'main', contains: [], lacks: [] }),
  times,
  reply,
})

export const scenarioSchema = z
  .strictObject({
    name: z.string().default('unnamed'),
    models: z.record(z.string(), z.strictObject({ contextWindow: z.int().min(1) })).default({}),
    cache: z.strictObject({ minTokens: z.int().min(0).default(DEFAULT_MIN_CACHE_TOKENS) }).prefault({}),
    rules: z.array(rule, 'expected a list of rules').min(1, 'expected at least one rule'),
  })
  .transform(
    (file): Scenario => ({
      name: file.name,
      rules: file.rules.map((r, i): Rule => ({ ...r, name: r.name ?? `rule ${i + 1}` })),
      contextWindows: Object.entries(file.models).map(([model, { contextWindow }]) => ({
        model: pattern.parse(model),
        tokens: contextWindow,
      })),
      minCacheTokens: file.cache.minTokens,
    }),
  )

/** The keys that are allowed in this place, for suggestions. */
export function knownKeysAt(path: readonly PropertyKey[]): readonly string[] {
  const last = [...path].reverse().find((part) => typeof part === 'string')
  if (path.length === 0) return ['name', 'models', 'cache', 'rules']
  if (last === 'rules') return ['name', 'when', 'times', 'reply']
  if (last === 'when') return Object.keys(when.def.out.def.in.shape)
  if (last === 'cache') return ['minTokens']
  if (last === 'error') return ['status', 'type', 'message', 'retryAfter', 'times']
  if (last === 'rateLimit') return ['resetsIn', 'claim', 'message', 'times']
  if (last === 'overflow') return ['tokens', 'limit', 'times']
  if (last === 'reply') return [...STEP_KEYS, 'input', 'pace']
  if (path.includes('models')) return ['contextWindow']
  return ['times']
}
