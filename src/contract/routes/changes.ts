import { z } from 'zod'
import { Change, Reload } from '../change.ts'
import { Follow } from './parameters.ts'
import { events, type FeatureRoutes } from './route.ts'

const Seq = z.string().regex(/^\d{1,15}$/, { error: 'expected the number of a change' })

export const changeRoutes = {
  followChanges: {
    tag: 'changes',
    summary: 'Streams what changed: kind, id and new state, numbered in the order of commits',
    description:
      'Starts after the change numbered by Last-Event-ID, else by `after`, else from the first one. Changes are kept for a limited time: a reader whose number is too old, or newer than the newest, is sent one `reload` with the newest number instead of what it missed. It must reload what it shows, and the stream continues after that number. The events of agents are not changes; they are in the streams of runs and jobs.',
    query: z.strictObject({
      after: z
        .union([Seq, z.literal('latest')], { error: 'expected the number of a change, or latest' })
        .optional()
        .describe(
          'Start after the change with this number. `latest`: start with a `reload`, followed by new changes only.',
        ),
      follow: Follow,
    }),
    headers: z.object({
      'last-event-id': Seq.optional().describe('The number of the last change that was received.'),
    }),
    responses: {
      200: events(
        '`event: change` with the number as `id:` and the change as `data:`, or `event: reload` with the newest number',
        z.union([Change, Reload]),
      ),
    },
  },
} satisfies FeatureRoutes
