/** The sandbox of this machine, as the engine uses it. */
import { type DetectedSandbox, detectSandbox, type WantedSandbox } from './detect.ts'
import { planSandbox } from './plan.ts'
import { prepareSandbox, removePlaceholders } from './prepare.ts'
import { rolesOf, type SandboxRoles } from './roles.ts'
import type { SandboxCommand, SandboxInput, SandboxPlan, SandboxRefusal } from './sandbox.ts'

export interface SandboxHost {
  /** Which sandbox works here, found out by trying. That there is none is found out again after a while: the machine may have been busy. */
  detect: () => Promise<DetectedSandbox>
  plan: (input: SandboxInput, command: SandboxCommand) => Promise<SandboxPlan | SandboxRefusal>
  prepare: (plan: Pick<SandboxPlan, 'files'>) => void
  removePlaceholders: (plan: Pick<SandboxPlan, 'placeholders'>) => void
  rolesOf: (input: SandboxInput) => SandboxRoles
}

const TRY_AGAIN_MS = 60_000

/** `path` is where programs are looked for, as in the variable PATH. */
export function openSandboxHost(path: string, wanted: WantedSandbox = 'auto'): SandboxHost {
  let detected: Promise<DetectedSandbox> | null = null
  const detect = () => {
    detected ??= detectSandbox({ path, wanted }).then(
      (found) => {
        if (found.means.kind === 'none') setTimeout(forget, TRY_AGAIN_MS).unref()
        return found
      },
      (error) => {
        forget()
        throw error
      },
    )
    return detected
  }
  const forget = () => {
    detected = null
  }
  return {
    detect,
    plan: async (input, command) => planSandbox(input, command, (await detect()).means),
    prepare: prepareSandbox,
    removePlaceholders,
    rolesOf,
  }
}
