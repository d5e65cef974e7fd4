/** Which runs are asked about each tool call, and whether an agent can be. */
import type { Runtime } from '../../agents/adapter.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import type { RunRecord } from '../../store/runs/records.ts'

export interface GateRules {
  /** Nothing may be changed by any run. */
  dryRun: boolean
}

/** A run that is held to rules, and every dry run. */
export const isGated = (
  settings: GateRules,
  rules: Tier | null,
  { request }: Pick<RunRecord, 'request'>,
): boolean => rules !== null || request.dryRun === true || settings.dryRun

/** An agent that cannot be kept from what its work directory tells it to do cannot be held to rules. */
export function canBeHeld({ path, version, capabilities }: Runtime): true {
  if (capabilities.sealing && capabilities.permissionPrompt) return true
  throw new RepriseError('agent-unavailable', `${path} (${version}) cannot be held to rules`, {
    hint: 'Update the agent: this version cannot be kept from acting on the settings of its work directory, or does not ask before it uses a tool.',
  })
}
