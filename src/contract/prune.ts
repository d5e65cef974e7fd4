import { z } from 'zod'

/** Everything that is deleted after a while, in the order in which it is shown. */
export const PRUNE_KINDS = [
  'runs',
  'events',
  'jobs',
  'cycles',
  'follow-ups',
  'notifications',
  'audit',
  'sessions',
  'transcripts',
  'output',
  'checkpoints',
  'damaged',
  'sandboxes',
] as const
export type PruneKind = (typeof PRUNE_KINDS)[number]

export const PruneRequest = z.strictObject({
  dryRun: z.boolean().optional().describe('Only say what would go.'),
})
export type PruneRequest = z.infer<typeof PruneRequest>

export const PruneReport = z
  .object({
    dryRun: z.boolean(),
    items: z
      .array(
        z.object({
          kind: z.enum(PRUNE_KINDS),
          count: z.number().int(),
          bytes: z.number().describe('The size of files; for what is in the database, about what it takes.'),
        }),
      )
      .describe('What went, or would go. Kinds of which nothing goes are left out.'),
    freedBytes: z
      .number()
      .describe('By how much the files in the home became smaller. In a dry run: the sum of the items.'),
    databaseBytes: z.number().describe('The size of the database afterwards.'),
  })
  .meta({ id: 'PruneReport' })
export type PruneReport = z.infer<typeof PruneReport>
