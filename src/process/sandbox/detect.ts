/**
 * Finds out which sandbox works on this machine, by starting `true` in each until one succeeds. The answer says
 * which one is used and why the others are not.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { explainRefusal, type MachineFacts, notInstalled, type Refusal } from './explain.ts'
import { findProgram, readMachineFacts } from './machine.ts'
import { planSandbox, type SandboxMeans } from './plan.ts'
import { prepareSandbox } from './prepare.ts'
import type { SandboxKind } from './sandbox.ts'
import { MOUNT_CALLS } from './unshare.ts'

const SCRIPT = fileURLToPath(new URL('sandbox.sh', import.meta.url))
const MOUNTS = fileURLToPath(new URL('mounts.pl', import.meta.url))
const TIMEOUT_MS = 20_000

export interface RefusedSandbox extends Refusal {
  kind: Exclude<SandboxKind, 'none'>
}

export interface DetectedSandbox {
  means: SandboxMeans
  /** Those that come before the chosen one, and why they cannot be used. */
  refused: RefusedSandbox[]
}

/** `auto`: the first that works. */
export type WantedSandbox = 'auto' | 'bubblewrap' | 'unshare'

export interface DetectInput {
  /** Where programs are looked for, as in the variable PATH. */
  path: string
  wanted?: WantedSandbox
  facts?: MachineFacts
  /** Replaces the search for programs in tests. */
  find?: (name: string) => string | null
}

export async function detectSandbox({
  path,
  wanted = 'auto',
  facts = readMachineFacts(),
  find = (name) => findProgram(name, path),
}: DetectInput): Promise<DetectedSandbox> {
  const refused: RefusedSandbox[] = []
  // bubblewrap starts faster, but does not hold everything for root (bubblewrap.ts).
  const order = facts.isRoot ? (['unshare', 'bubblewrap'] as const) : (['bubblewrap', 'unshare'] as const)
  for (const kind of wanted === 'auto' ? order : [wanted]) {
    const { missing, candidates } = findMeans(kind, find)
    if (missing.length > 0) refused.push({ kind, ...notInstalled(missing) })
    for (const means of candidates) {
      const refusal = await tryOut(means, facts)
      if (refusal === null) return { means, refused }
      // The last candidate needs the least.
      if (means === candidates.at(-1)) refused.push({ kind, ...refusal })
    }
  }
  return { means: { kind: 'none' }, refused }
}

/** The ways to use an implementation, best first, or the names of the programs that are missing. */
function findMeans(
  kind: 'bubblewrap' | 'unshare',
  find: (name: string) => string | null,
): { missing: string[]; candidates: SandboxMeans[] } {
  const names =
    kind === 'bubblewrap' ? ['bwrap', 'env', 'sh'] : ['unshare', 'setpriv', 'mount', 'umount', 'env', 'sh']
  const found = Object.fromEntries(names.map((name) => [name, find(name) ?? '']))
  const missing = names.filter((name) => !found[name])
  if (missing.length > 0) return { missing, candidates: [] }
  const { bwrap = '', setpriv = '', env = '', sh = '' } = found
  const shell = find('bash') ?? sh
  const unshare = find('unshare')
  const candidates: SandboxMeans[] =
    kind === 'bubblewrap'
      ? [...new Set([unshare, null])].map((unshare) => ({ kind, tools: { bwrap, unshare, env, shell } }))
      : [...new Set([findPerl(find), null])].map((perl) => ({
          kind,
          tools: { unshare: unshare ?? '', setpriv, env, sh, shell, script: SCRIPT, perl },
        }))
  return { missing, candidates }
}

function findPerl(find: (name: string) => string | null) {
  const [program, mountCall] = [find('perl'), MOUNT_CALLS[process.arch]]
  return program === null || mountCall === undefined ? null : { program, script: MOUNTS, mountCall }
}

/** null: it works. */
async function tryOut(means: SandboxMeans, facts: MachineFacts): Promise<Refusal | null> {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-sandbox-'))
  try {
    const [scratch, tmp] = [join(dir, 'scratch'), join(dir, 'tmp')]
    for (const folder of [scratch, tmp]) mkdirSync(folder)
    const plan = planSandbox(
      {
        workDir: '/',
        writable: [],
        readOnly: [],
        hidden: [],
        privateDirs: [],
        network: 'open',
        ...{ scratch, tmp, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
      },
      { program: 'true', args: [] },
      means,
    )
    if (!plan.ok) return explainRefusal(plan.problems.map(({ message }) => message).join('\n'), facts)
    prepareSandbox(plan)
    return await new Promise((resolve) => {
      const { program, args } = plan.command
      execFile(program, [...args], { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }, (error, _, stderr) =>
        resolve(error ? explainRefusal(stderr || `exit code ${error.code}`, facts) : null),
      )
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
