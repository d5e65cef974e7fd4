import { z } from 'zod'
import { page } from '../http.ts'
import { CostRow, Overview } from '../overview.ts'
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
