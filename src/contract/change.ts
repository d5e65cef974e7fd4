/**
 * The change feed: every committed change has a number; numbers rise in the order of commits. A change says what is
 * different, not what it is now: readers load the thing itself. Changes are kept for a while only, and a reader that
 * comes back later than that is told to load everything again.
 */
import { z } from 'zod'

export const Change = z
  .object({
    seq: z.number().int().positive().describe('The number of the change. Later changes have higher numbers.'),
    kind: z.string().describe('What changed: `run`, `job`, `conversation`, `watch`, `cycle`, …'),
    id: z.string().describe('The id of what changed.'),
    state: z.string().nullable().describe('Its state after the change; null: it has none, or it is gone.'),
    at: z.iso.datetime(),
  })
  .meta({ id: 'Change' })
export type Change = z.infer<typeof Change>

/** Sent instead of changes that are not kept any more. */
export const Reload = z
  .object({
    reload: z.literal(true),
    newest: z.number().int().describe('The stream continues after this number.'),
  })
  .meta({ id: 'Reload' })
export type Reload = z.infer<typeof Reload>
