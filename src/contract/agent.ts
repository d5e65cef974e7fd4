import { z } from 'zod'

/** What an agent can behave like. The daemon has an adapter for each. */
export const ADAPTERS = ['claude'] as const
export type AdapterName = (typeof ADAPTERS)[number]

export const Capabilities = z.object({
  resume: z.boolean(),
  sessionId: z.boolean(),
  fork: z.boolean(),
  partialMessages: z.boolean(),
  permissionPrompt: z.boolean(),
  budget: z.boolean(),
  structuredOutput: z.boolean(),
  /** The tools it has can be chosen. */
  toolChoice: z.boolean(),
  /** It can be kept from running what the work directory's own settings say. */
  sealing: z.boolean(),
})
export type Capabilities = z.infer<typeof Capabilities>

export const Agent = z.object({
  name: z.string(),
  adapter: z.string(),
  command: z.string(),
  available: z.boolean(),
  /** Why not, if not. */
  problem: z.string().nullable(),
  path: z.string().nullable(),
  version: z.string().nullable(),
  runtimeId: z.string().nullable(),
  capabilities: Capabilities.nullable(),
  loggedIn: z.boolean().nullable(),
  simulated: z.boolean(),
  /** Where a connection to its model can be tried; null: that is not known, or it goes through a proxy. */
  connectsTo: z.string().nullable(),
})
export type Agent = z.infer<typeof Agent>
