/** The sandbox of this machine, as the engine uses it. */
import { type DetectedSandbox, detectSandbox } from './detect.ts'
import { planSandbox } from './plan.ts'
import { prepareSandbox, removePlaceholders } from './prepare.ts'
import { rolesOf, type SandboxRoles } from './roles.ts'
import type { SandboxCommand, SandboxInput, SandboxPlan, SandboxRefusal } from './sandbox.ts'

export interface SandboxHost {
  /** Which sandbox works here. Found out once, by trying. */
  detect: () => Promise<DetectedSandbox>
  plan: (input: SandboxInput, command: SandboxCommand) => Promise<SandboxPlan | SandboxRefusal>
  prepare: (plan: Pick<SandboxPlan, 'files'>) => void
  removePlaceholders: (plan: Pick<SandboxPlan, 'placeholders'>) => void
  rolesOf: (input: SandboxInput) => SandboxRoles
}

/** `path` is where programs are looked for, as in the variable PATH. */
export function openSandboxHost(path: string): SandboxHost {
  let detected: Promise<DetectedSandbox> | null = null
  const detect = () => {
    detected ??= detectSandbox({ path })
    return detected
  }
  return {
    detect,
    plan: async (input, command) => planSandbox(input, command, (await detect()).means),
    prepare: prepareSandbox,
    removePlaceholders,
    rolesOf,
  }
}
