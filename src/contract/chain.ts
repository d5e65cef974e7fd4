/** The runs that escalation has linked. */
import { z } from 'zod'
import { Escalation, Refusal } from './escalation.ts'
import { RunId } from './ids.ts'
import { Usage } from './outcome.ts'
import { Run } from './run.ts'

export const ChainRun = Run.extend({
  escalation: Escalation.nullable(),
  refused: z.array(Refusal).describe('The newest refusals; `refusals` counts all.'),
}).meta({ id: 'ChainRun' })
export type ChainRun = z.infer<typeof ChainRun>

/** Every run that is linked to the one asked about, root first. */
export const Chain = z
  .object({
    rootRunId: RunId.schema,
    state: z.enum(['running', 'waiting-for-approval', 'waiting-for-follow-up', 'ended']),
    runs: z.array(ChainRun),
    totals: z.object({
      runs: z.number().int(),
      usage: Usage,
      costUsd: z.number().nullable(),
      costEstimated: z.boolean(),
      durationMs: z.number().describe('The sum over the runs.'),
      refusals: z.number().int(),
    }),
  })
  .meta({ id: 'Chain', description: 'All runs that escalation has linked, root first.' })
export type Chain = z.infer<typeof Chain>
