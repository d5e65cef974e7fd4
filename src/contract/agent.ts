import { z } from 'zod'

/** The adapters that the daemon has. */
export const ADAPTERS = ['claude'] as const
export type AdapterName = (typeof ADAPTERS)[number]

export const Capabilities = z.object({
  resume: z.boolean(),
  sessionId: z.boolean().describe('The agent accepts an id for a new session.'),
  fork: z.boolean(),
  partialMessages: z.boolean(),
  permissionPrompt: z.boolean().describe('The agent can ask Reprise whether it may use a tool.'),
  budget: z.boolean(),
  structuredOutput: z.boolean(),
  toolChoice: z.boolean().describe('The set of tools can be chosen.'),
  sealing: z
    .boolean()
    .describe("The agent can be kept from running commands of the work directory's own settings."),
})
export type Capabilities = z.infer<typeof Capabilities>

export const Agent = z
  .object({
    name: z.string(),
    adapter: z.string(),
    command: z.string(),
    available: z.boolean(),
    problem: z.string().nullable().describe('Why the agent is not available; null if it is.'),
    path: z.string().nullable(),
    version: z.string().nullable(),
    runtimeId: z.string().nullable(),
    capabilities: Capabilities.nullable(),
    loggedIn: z.boolean().nullable(),
    simulated: z.boolean().describe('The agent talks to the simulator instead of its vendor.'),
    connectsTo: z
      .string()
      .nullable()
      .describe(
        'Where the connection to its model can be tested; null: the address is not known, or a proxy is used.',
      ),
  })
  .meta({ id: 'Agent' })
export type Agent = z.infer<typeof Agent>
