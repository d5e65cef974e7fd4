/** A limit of use or an outage that is open, and what is left of an account's limits. */
import { z } from 'zod'
import { RunId } from './ids.ts'

export const Obstacle = z.object({
  /** `limit`: the account, or one model of it, takes no more requests for a while. `outage`: the model is away. */
  kind: z.enum(['limit', 'outage']),
  /** A fingerprint of address and credentials. */
  account: z.string(),
  /** The configured agents that use the account. */
  agents: z.array(z.string()),
  baseUrl: z.string().nullable(),
  /** null: all models. */
  model: z.string().nullable(),
  message: z.string(),
  /** The account has never answered: probably a mistake of set-up. */
  neverAnswered: z.boolean(),
  since: z.iso.datetime(),
  nextTryAt: z.iso.datetime(),
  resetsAt: z.iso.datetime().nullable(),
  /** Tries in a row that met it. */
  failures: z.number().int(),
  /** The run that tries at present whether it is over. */
  probe: RunId.schema.nullable(),
  /** The runs that wait behind it, in the order in which they will be let go: the first 50 of `waitingCount`. */
  waiting: z.array(RunId.schema),
  waitingCount: z.number().int(),
})
export type Obstacle = z.infer<typeof Obstacle>

/** What the agent last said about the limits of an account. */
export const Quota = z.object({
  account: z.string(),
  agents: z.array(z.string()),
  status: z.string(),
  at: z.iso.datetime(),
  /** `used` is from 0 to 1. */
  windows: z.array(z.object({ name: z.string(), used: z.number(), resetsAt: z.iso.datetime().optional() })),
})
export type Quota = z.infer<typeof Quota>
