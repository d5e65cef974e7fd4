/**
 * A description of a tool call that is the same for every agent. The adapter derives it from the tool's name and input,
 * so that no other code needs to know the tools of an agent.
 */
import { z } from 'zod'

export const TOOL_KINDS = ['shell', 'write', 'read', 'agent', 'question', 'schedule', 'other'] as const
export const ToolKind = z
  .enum(TOOL_KINDS)
  .describe(
    'What the tool does, whatever the agent calls it. `shell`: runs a command. `write`: changes files. `read`: looks at files or the web. `agent`: starts a sub-agent. `question`: asks the user. `schedule`: plans work for later. `other`: anything else.',
  )
export type ToolKind = z.infer<typeof ToolKind>

export const ToolDescription = z.object({
  kind: ToolKind,
  command: z.string().optional().describe('The text for the shell.'),
  paths: z
    .array(z.string())
    .optional()
    .describe('The files or directories that the call names, as the agent wrote them.'),
  subject: z
    .string()
    .optional()
    .describe('What the call is about otherwise: a pattern, an address, a query, the task of a sub-agent.'),
  questions: z.array(z.string()).optional().describe('What the call asks the user.'),
  background: z.literal(true).optional().describe('The call returns before its work is done.'),
  internal: z
    .literal(true)
    .optional()
    .describe('The call only serves the agent itself: its to-do list, its report.'),
})
export type ToolDescription = z.infer<typeof ToolDescription>

/** Events that were stored by earlier versions lack these fields. */
export type MaybeDescribed = { [K in keyof ToolDescription]?: ToolDescription[K] | undefined }
