/** The request for a run, and the settings that requests for jobs, watches and turns share with it. */
import { z } from 'zod'
import { SessionRef } from './ids.ts'

export const PERMISSION_MODES = ['ask-all', 'ask', 'edits', 'allow'] as const
export const PermissionMode = z
  .enum(PERMISSION_MODES)
  .describe(
    'Who decides when the agent wants to use a tool. `ask-all`: a person, for every tool call. `ask`: a person, where the agent would ask. `edits`: as `ask`, but file edits in the work directory are allowed. `allow`: everything is allowed.',
  )
export type PermissionMode = z.infer<typeof PermissionMode>

export const ModelName = z.string().regex(/^[A-Za-z0-9][\w.:@/[\]-]{0,127}$/, {
  error: 'expected a model name: letters, digits and . : @ / [ ] - _',
})

/** At most 24 days, the longest time that a timer supports. */
export const MaxDurationMs = z
  .number()
  .int()
  .min(1000)
  .max(24 * 86_400_000)

export const WorkDir = z
  .string()
  .max(4096)
  .refine((path) => !path.includes('\0'), { error: 'expected a path without NUL' })

export const TierNumber = z.number().int().min(1).max(9)

export const CreateRun = z
  .strictObject({
    prompt: z.string().refine((p) => p.trim() !== '', { error: 'expected a prompt that is not empty' }),
    agent: z.string().max(64).optional().describe('The name of a configured agent; default: the first one.'),
    model: ModelName.optional(),
    workDir: WorkDir.describe('The directory in which the agent works.'),
    sessionId: SessionRef.optional().describe(
      "Continue this session if that is safe: Reprise's id (`ses_…`) or the agent's own id.",
    ),
    forceFreshSession: z.boolean().optional().describe('Start a new session even if one could be resumed.'),
    permissions: PermissionMode.optional(),
    maxDurationMs: MaxDurationMs.optional(),
    maxResumes: z
      .number()
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe('How often the run is continued after an interruption.'),
    maxTurns: z.number().int().min(1).max(10_000).optional().describe('Limit for one attempt.'),
    continue: z
      .boolean()
      .optional()
      .describe(
        'Continue in the same session when `maxTurns` is reached, up to `maxTurnsTotal` (default: 10 times `maxTurns`).',
      ),
    maxTurnsTotal: z.number().int().min(1).max(100_000).optional(),
    maxBudgetUsd: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .describe('Limit in US dollars. With `tier`: for the whole chain.'),
    tier: TierNumber.optional().describe('Work at this tier, and escalate from there.'),
    maxTier: TierNumber.optional().describe('With `tier`: the highest tier that the chain may reach.'),
    approved: z
      .boolean()
      .optional()
      .describe('With a `tier` that needs approval: the approval is given with this request.'),
    dryRun: z.boolean().optional().describe('Refuse everything that would change something.'),
    sandbox: z
      .boolean()
      .optional()
      .describe(
        'Run in a sandbox: only the work directory can be written, and credentials are hidden. Holds for later runs of the session or conversation, too, until one says `false`. Tiers are in one wherever the machine has one.',
      ),
    environment: z
      .string()
      .max(200_000)
      .optional()
      .describe('With `tier`: a description of the environment, for a tier that starts in a new session.'),
  })
  .meta({ id: 'CreateRun' })
export type CreateRun = z.infer<typeof CreateRun>
