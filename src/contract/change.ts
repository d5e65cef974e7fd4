/**
 * The change feed: every committed change has a number; numbers increase in the order of commits. A change names what
 * changed but does not contain its new content: readers load that themselves. Changes are kept for a limited time; a
 * reader that returns after that is told to reload everything.
 */
import { z } from 'zod'

export const CHANGE_KINDS = [
  'run',
  'job',
  'conversation',
  'message',
  'session',
  'question',
  'approval',
  'watch',
  'cycle',
  'follow-up',
  'obstacle',
  'notification',
] as const
export const ChangeKind = z.enum(CHANGE_KINDS)
export type ChangeKind = z.infer<typeof ChangeKind>

export const Change = z
  .object({
    seq: z.number().int().positive().describe('The number of the change. Later changes have higher numbers.'),
    kind: ChangeKind,
    id: z
      .string()
      .describe(
        'The id of what changed. For an approval: the run that waits for it. For a question: `<run>/<tool call>`. For an obstacle: `<account>/<model>`.',
      ),
    state: z
      .string()
      .nullable()
      .describe('Its state after the change. `deleted`: it was deleted. null: this kind has no states.'),
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
