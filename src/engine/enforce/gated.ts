/** Which runs must ask before each tool call, and which agents support that. */
import type { Runtime } from '../../agents/adapter.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import type { RunRecord } from '../../store/runs/records.ts'

export interface GateRules {
  /** No run may change anything. */
  dryRun: boolean
}

/** Whether the run must ask before each tool call: it has rules, or it is a dry run. */
export const isGated = (
  settings: GateRules,
  rules: Tier | null,
  { request }: Pick<RunRecord, 'request'>,
): boolean => rules !== null || request.dryRun === true || settings.dryRun

/**
 * Throws if the agent cannot be restricted by rules, for instance because it always obeys its work directory's
 * settings.
 */
export function canBeHeld({ path, version, capabilities }: Runtime): true {
  if (capabilities.sealing && capabilities.permissionPrompt) return true
  throw new RepriseError('agent-unavailable', `${path} (${version}) cannot be restricted by rules`, {
    hint: 'Update the agent: this version cannot be kept from acting on the settings of its work directory, or does not ask before it uses a tool.',
  })
}

/** Throws if the agent would obey the settings of a work directory that nobody has trusted. */
export function canExclude({ path, version, capabilities }: Runtime, workDir: string): void {
  if (capabilities.sealing) return
  throw new RepriseError('agent-unavailable', `${path} (${version}) would obey the settings in ${workDir}`, {
    hint: `Nobody has trusted them, and this version cannot leave them out. Update the agent, or look at them: reprise trust ${workDir}`,
  })
}
