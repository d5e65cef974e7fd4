/** Parameters of requests: in the path, in the query, in headers. */
import { z } from 'zod'
import { PageQuery as PageParameters } from '../http.ts'
import { ConversationId, CycleId, FollowUpId, JobId, MessageId, RunId, SessionRef, WatchId } from '../ids.ts'
import { WatchName } from '../watch.ts'

export const RunPath = z.object({ id: RunId.schema })
export const CyclePath = z.object({ id: CycleId.schema })
export const FollowUpPath = z.object({ id: FollowUpId.schema })
export const JobPath = z.object({ id: JobId.schema })
export const ConversationPath = z.object({ id: ConversationId.schema })
export const MessagePath = z.object({ id: ConversationId.schema, mid: MessageId.schema })
export const SessionPath = z.object({ id: SessionRef })

const WatchRef = z
  .string()
  .refine((id) => WatchId.is(id) || WatchName.safeParse(id).success, {
    error: "expected a watch's name, or its id like wch_01J…",
  })
  .describe('Name or id of the watch')
export const WatchPath = z.object({ id: WatchRef })
export const HookPath = z.object({ watch: WatchRef })

export const PageQuery = z.strictObject(PageParameters.shape)

export const YesOrNo = z.enum(['true', 'false'], {
  error: ({ input }) => `expected true or false, got ${JSON.stringify(input).slice(0, 80)}`,
})
export const Follow = YesOrNo.optional().describe(
  '`false`: end at the newest item instead of waiting for more.',
)

export const IdempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: 'expected 1 to 255 visible ASCII characters' })
    .optional()
    .describe(
      'A request with a key that was used before is not carried out again; it gets the first result.',
    ),
})
