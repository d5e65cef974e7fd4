/** Which sandboxes can be tested on this machine, as which users, and what cannot be tested and why. */
import { detectSandbox } from '../../../src/process/sandbox/detect.ts'
import { findProgram } from '../../../src/process/sandbox/machine.ts'
import type { SandboxMeans } from '../../../src/process/sandbox/plan.ts'
import type { User } from './box.ts'

const PATH = process.env.PATH ?? ''
const NOBODY: User = { name: 'nobody', uid: 65_534, gid: 65_534 }
const SELF: User = {
  name: process.getuid?.() === 0 ? 'root' : 'this user',
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
}

export interface Variant {
  title: string
  means: SandboxMeans
  user: User
}

const found: SandboxMeans[] = []
/** Titles of suites that are skipped, each with the reason. */
export const unavailable: string[] = []

for (const kind of ['bubblewrap', 'unshare'] as const) {
  const detected = await detectSandbox({ path: PATH, wanted: kind })
  if (detected.means.kind === kind) found.push(detected.means)
  else {
    const refusal = detected.refused.find((refused) => refused.kind === kind)
    unavailable.push(`${kind}: ${refusal?.message ?? 'not available'}`)
  }
}

const users = SELF.uid === 0 ? [SELF, NOBODY] : [SELF]
if (SELF.uid !== 0) unavailable.push('another user than the own: only root can start programs as one')

const variantsOf = (means: SandboxMeans, kind: string): Variant[] =>
  users.map((user) => ({ title: `${kind} as ${user.name}`, means, user }))

/** util-linux without perl, where `mount` is started for each mount. */
export const withoutPerl: Variant[] = found.flatMap((means) =>
  means.kind === 'unshare' && means.tools.perl
    ? variantsOf({ ...means, tools: { ...means.tools, perl: null } }, 'unshare without perl')
    : [],
)

export const variants: Variant[] = [
  ...found.flatMap((means) => variantsOf(means, means.kind)),
  ...(process.env.REPRISE_TEST_ALL ? withoutPerl : []),
]

export const installed = (program: string) => findProgram(program, PATH) !== null
