/** Processes of agents that have ended their turn and wait for the next one. */
import { z } from 'zod'
import { ConversationId, ProcessId, SessionId } from './ids.ts'

export const KeptProcessInfo = z.object({
  id: ProcessId.schema,
  conversationId: ConversationId.schema.nullable(),
  sessionId: SessionId.schema,
  agent: z.string(),
  pid: z.number().int().nullable().describe('The process group of the agent.'),
  preStarted: z.boolean().describe('It was started ahead and has had no turn yet.'),
  since: z.iso.datetime(),
  until: z.iso.datetime().describe('When it is ended if there is no turn before.'),
  memoryBytes: z.number().nullable().describe('null: not measured yet.'),
})
export type KeptProcessInfo = z.infer<typeof KeptProcessInfo>
