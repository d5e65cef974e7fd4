/**
 * Trust in directories. A work directory may contain files that make an agent start programs or skip questions: hooks, MCP servers,
 * permission rules, commands, and the settings of Reprise itself. They apply only after a person has trusted them; what is
 * remembered is their content, so that a change is asked about again.
 */
import { z } from 'zod'
import { WorkDir } from './create-run.ts'

export const GRANT_KINDS = [
  'hook',
  'mcp-server',
  'permission',
  'setting',
  'command',
  'agent',
  'skill',
  'reprise',
  'file',
] as const

export const Grant = z
  .object({
    kind: z
      .enum(GRANT_KINDS)
      .describe(
        '`hook`: a program that the agent starts by itself. `mcp-server`: a server that it starts or connects to. `permission`: a rule about what needs no question. `reprise`: a setting of Reprise. `file`: another file that the agent may obey.',
      ),
    file: z.string().describe('The absolute path of the file that says so.'),
    text: z.string().describe('What it says, such as the command of a hook.'),
  })
  .meta({ id: 'Grant', description: 'One thing that the files of a directory would allow or start.' })
export type Grant = z.infer<typeof Grant>

export const TRUST_STATES = ['nothing', 'untrusted', 'declined', 'changed', 'trusted', 'unusable'] as const
export const TrustState = z
  .enum(TRUST_STATES)
  .describe(
    '`nothing`: there is nothing to trust. `untrusted`: nobody has decided. `declined`: a person decided to go without. `changed`: it was trusted, and has changed since. `unusable`: it cannot be read completely, so it cannot be trusted.',
  )
export type TrustState = z.infer<typeof TrustState>

export const DirectoryTrust = z
  .object({
    dir: z.string().describe('The real path of the directory.'),
    state: TrustState,
    digest: z.string().describe('Identifies the content that is described here.'),
    grants: z.array(Grant).describe('What the content would allow or start.'),
    problems: z.array(z.string()).describe('Why the content cannot be trusted.'),
  })
  .meta({ id: 'DirectoryTrust' })
export type DirectoryTrust = z.infer<typeof DirectoryTrust>

export const TrustedDirectory = z
  .object({
    dir: z.string(),
    decision: z.enum(['trust', 'decline']),
    files: z.array(z.string()).describe('The files that were trusted, as they were then.'),
    decidedAt: z.iso.datetime(),
  })
  .meta({ id: 'TrustedDirectory', description: 'The decision of a person about a directory.' })
export type TrustedDirectory = z.infer<typeof TrustedDirectory>

export const TrustQuery = z.strictObject({ dir: WorkDir.describe('The absolute path of the directory.') })

export const DecideTrust = z
  .strictObject({
    dir: WorkDir,
    digest: z
      .string()
      .max(128)
      .describe(
        'The `digest` of what the person was shown. If the content has changed since, nothing is decided.',
      ),
    decision: z.enum(['trust', 'decline']),
  })
  .meta({ id: 'DecideTrust' })
export type DecideTrust = z.infer<typeof DecideTrust>

export const DIRECTORY_SETTINGS = ['none', 'applied', 'ignored'] as const
export type DirectorySettings = (typeof DIRECTORY_SETTINGS)[number]
