/** Open usage limits and outages, and how much of an account's limits is used. */
import { z } from 'zod'
import { RunId } from './ids.ts'

export const Obstacle = z
  .object({
    kind: z
      .enum(['limit', 'outage'])
      .describe(
        '`limit`: the account, or one model of it, accepts no requests for a while. `outage`: the model does not respond.',
      ),
    account: z.string().describe('A fingerprint of address and credentials.'),
    agents: z.array(z.string()).describe('The configured agents that use the account.'),
    baseUrl: z.string().nullable(),
    model: z.string().nullable().describe('null: all models.'),
    message: z.string(),
    neverAnswered: z
      .boolean()
      .describe('The account has never responded, so the configuration is probably wrong.'),
    since: z.iso.datetime(),
    nextTryAt: z.iso.datetime(),
    resetsAt: z.iso.datetime().nullable(),
    failures: z.number().int().describe('How many tries in a row failed.'),
    probe: RunId.schema.nullable().describe('The run that currently tests whether the obstacle is gone.'),
    waiting: z
      .array(RunId.schema)
      .describe(
        'The runs that wait for it, in the order in which they will start: the first 50 of `waitingCount`.',
      ),
    waitingCount: z.number().int(),
  })
  .meta({ id: 'Obstacle', description: 'A limit of use or an outage that runs wait for.' })
export type Obstacle = z.infer<typeof Obstacle>

/** What an agent last reported about the limits of an account. */
export const Quota = z
  .object({
    account: z.string(),
    agents: z.array(z.string()),
    status: z.string(),
    at: z.iso.datetime(),
    windows: z
      .array(z.object({ name: z.string(), used: z.number(), resetsAt: z.iso.datetime().optional() }))
      .describe('`used` is between 0 and 1.'),
  })
  .meta({ id: 'Quota' })
export type Quota = z.infer<typeof Quota>
