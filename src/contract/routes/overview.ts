import { z } from 'zod'
import { page } from '../http.ts'
import { CostRow, Overview } from '../overview.ts'
import { REFERABLE } from '../reference.ts'
import { type FeatureRoutes, json } from './route.ts'

const Instant = z.iso.datetime({ offset: true, error: 'expected a time like 2026-01-31T00:00:00Z' })

export const overviewRoutes = {
  getOverview: {
    tag: 'system',
    summary:
      'Returns what needs a person, what is at work, what waits by itself, and costs and failures since a time',
    query: z.strictObject({
      since: Instant.optional().describe('Costs and failures since then; default: the last 24 hours.'),
    }),
    responses: { 200: json('The overview', Overview) },
  },
  listCosts: {
    tag: 'system',
    summary: 'Sums up runs by half hour, agent, model, tier and purpose: cost, tokens, what resuming saved',
    query: z.strictObject({
      since: Instant.describe('Of runs that ended at or after this time.'),
      until: Instant.optional().describe('Of runs that ended before this time.'),
    }),
    responses: { 200: json('The sums, oldest first', page(CostRow)) },
  },
  resolveId: {
    tag: 'system',
    summary: 'Finds the id that a person means by a part of it, or by `last`',
    description:
      'A reference is a whole id, its beginning or its end (at least four characters, with or without the prefix), or `last`. With `kind`, the id of a job stands for its current run, the id of a run for its job, and so on.',
    params: z.object({ ref: z.string().min(1).max(64) }),
    query: z.strictObject({ kind: z.enum(REFERABLE).optional().describe('What is expected.') }),
    responses: {
      200: json('The id', z.object({ id: z.string(), kind: z.enum(REFERABLE) }).meta({ id: 'Referred' })),
    },
    errors: ['not-found'],
  },
  getConfiguration: {
    tag: 'system',
    summary: 'Returns the configuration in force; values that may be secret are hidden',
    responses: {
      200: json(
        'The configuration',
        z.object({ settings: z.unknown(), sources: z.array(z.string()) }).meta({ id: 'Configuration' }),
      ),
    },
  },
} satisfies FeatureRoutes
