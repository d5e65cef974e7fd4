/** The runs that escalation has linked. */
import { z } from 'zod'
import { Escalation, Refusal } from './escalation.ts'
import { RunId } from './ids.ts'
import { Usage } from './outcome.ts'
import { Run } from './run.ts'

export const ChainRun = Run.extend({
  escalation: Escalation.nullable(),
  /** The newest ones; `refusals` counts all. */
  refused: z.array(Refusal),
})
export type ChainRun = z.infer<typeof ChainRun>

/** Every run that is linked to the one asked about, root first. */
export const Chain = z.object({
  rootRunId: RunId.schema,
  state: z.enum(['running', 'waiting-for-approval', 'waiting-for-follow-up', 'ended']),
  runs: z.array(ChainRun),
  totals: z.object({
    runs: z.number().int(),
    usage: Usage,
    costUsd: z.number().nullable(),
    costEstimated: z.boolean(),
    /** Of the runs, added up. */
    durationMs: z.number(),
    refusals: z.number().int(),
  }),
})
export type Chain = z.infer<typeof Chain>
