/** Makes the plan of a sandbox. Reads the host's files, changes nothing. */
import { type BubblewrapTools, planBubblewrap } from './bubblewrap.ts'
import { type HostFiles, hostFiles } from './host-files.ts'
import { type Bind, computeLayout } from './layout.ts'
import { findPlaces, type Place, placeAround } from './places.ts'
import type { Sandbox, SandboxCommand, SandboxInput, SandboxPlan, SandboxRefusal } from './sandbox.ts'
import { planUnshare, type UnshareTools } from './unshare.ts'

export type SandboxMeans =
  | { kind: 'bubblewrap'; tools: BubblewrapTools }
  | { kind: 'unshare'; tools: UnshareTools }
  | { kind: 'none' }

export function planSandbox(
  input: SandboxInput,
  command: SandboxCommand,
  means: SandboxMeans,
  files: HostFiles = hostFiles,
): SandboxPlan | SandboxRefusal {
  const places = findPlaces(input, files)
  if (places.problems.length > 0) return { ok: false, problems: places.problems }
  const resolved = { ...input, scratch: files.realPath(input.scratch) }
  const layout = computeLayout(places, resolved.scratch, files)
  if (layout.problems.length > 0) return { ok: false, problems: layout.problems }
  layout.binds.push(...replacements(input, places.places, files))
  const { placeholders, warnings } = layout
  const common = { ok: true, kind: means.kind, placeholders, warnings } as const
  switch (means.kind) {
    case 'bubblewrap':
      return {
        ...common,
        command: planBubblewrap(resolved, layout, means.tools, command),
        files: layout.files,
      }
    case 'unshare': {
      const planned = planUnshare(resolved, layout, means.tools, command, files)
      return { ...common, command: planned.command, files: [...planned.files, ...layout.files] }
    }
    case 'none':
      return { ...common, command, files: [], placeholders: [], warnings: [NOT_HELD] }
  }
}

/** They come after everything else, so that they are seen whatever else is mounted there. */
const replacements = ({ replaced = [] }: SandboxInput, places: readonly Place[], files: HostFiles): Bind[] =>
  replaced
    .map(({ path, source }) => ({ target: files.realPath(path), source: files.realPath(source) }))
    .filter(({ target }) => files.kindOf(target) === 'file' && isSeen(placeAround(target, places)))
    .map((paths) => ({ mode: 'ro', ...paths, optional: true }))

const isSeen = (place: Place | undefined) => place?.role !== 'hide' && place?.role !== 'private'

const NOT_HELD = 'There is no sandbox on this machine: nothing of this is enforced.'

export const openSandbox = (means: SandboxMeans): Sandbox => ({
  kind: means.kind,
  plan: (input, command) => planSandbox(input, command, means),
})
