import { z } from 'zod'

/** What holds the processes of an agent; `none`: nothing but its user's rights. */
export const SANDBOXES = ['bubblewrap', 'unshare', 'none'] as const
export type SandboxName = (typeof SANDBOXES)[number]

export const SandboxStatus = z
  .object({
    kind: z.enum(SANDBOXES).describe('`none`: the rules of tiers are advisory.'),
    problems: z.array(z.string()).describe('Why a sandbox that would be preferred cannot be used.'),
    advice: z.string().nullable().describe('How to get a sandbox, if there is none.'),
  })
  .meta({ id: 'SandboxStatus' })
export type SandboxStatus = z.infer<typeof SandboxStatus>
