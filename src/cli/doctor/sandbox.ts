/** Checks which sandbox holds the tiers, and says how to get one. */
import type { SandboxStatus } from '../../contract/sandbox.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** `isNeeded`: the configuration demands one (`tiers.enforcement: kernel`, `run.sandbox: on`). */
export function checkSandbox({ kind, problems, advice }: SandboxStatus, isNeeded: boolean): Check {
  if (kind !== 'none') return ok('sandbox', `${NAMES[kind]}: the rules of tiers are held by the kernel`)
  const why = problems.join(' ')
  const hint = advice ?? 'Install bubblewrap.'
  return isNeeded
    ? fail('sandbox', `there is none, and the configuration demands one: ${why}`, hint)
    : warn('sandbox', `there is none, so the rules of tiers are advisory: ${why}`, hint)
}

const NAMES = { bubblewrap: 'bubblewrap', unshare: 'util-linux (unshare)' }
