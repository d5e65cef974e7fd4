/**
 * The second half of a plan: which path of the host is mounted where. The result is the same for all implementations: on a
 * read-only copy of the host's tree, a list of binds, each over those before it.
 *
 * How a path is hidden depends on where it is.
 *   - In a read-only folder, other than those of the system, the folder is replaced by a *view*: an empty folder in which every entry that exists now, but
 *     for the hidden ones, is mounted. What is created or replaced later does not appear.
 *   - In a writable folder, an empty file or folder is mounted over it; if it is missing, over a placeholder.
 *
 * A folder can be renamed although there is a mount somewhere below it; a mount point cannot. So, in writable folders, the
 * folders that lead to a read-only or hidden path are mounted onto themselves.
 */
import { dirname, join } from 'node:path'
import type { HostFiles } from './host-files.ts'
import { depthOf, foldersBetween, isInside } from './paths.ts'
import { type Place, type Places, placeAround } from './places.ts'
import type { PlannedFile, SandboxProblem } from './sandbox.ts'

export interface Bind {
  mode: 'ro' | 'rw'
  source: string
  target: string
  /** The source may have vanished in the meantime. */
  optional: boolean
}

export interface Layout {
  workDir: string
  binds: Bind[]
  files: PlannedFile[]
  placeholders: string[]
  warnings: string[]
  problems: SandboxProblem[]
}

/** A view of a larger folder would take too long to mount. */
const MOST_ENTRIES = 1000
/**
 * These folders have many entries, and only the administrator changes them. So there is no view of them: what exists is covered, and what
 * does not exist is not hidden.
 */
const SYSTEM = /^\/(etc|run|var\/(lib|run|snap))(\/|$)/

export function computeLayout({ workDir, places }: Places, scratch: string, files: HostFiles): Layout {
  const layout: Layout = {
    workDir,
    binds: [],
    files: [],
    placeholders: [],
    warnings: [],
    problems: [],
  }
  const emptyFile = join(scratch, 'empty')
  layout.files.push({ kind: 'file', path: emptyFile, mode: 0 })
  /** Folders inside the sandbox that are not the host's, and the folder that is mounted there. */
  const replaced = new Map<string, string>()

  const bind = (mode: Bind['mode'], source: string, target: string, optional = false) => {
    if (!layout.binds.some((other) => other.target === target && !other.optional))
      layout.binds.push({ mode, source, target, optional })
  }
  const newFolder = (target: string) => {
    const path = join(scratch, `folder-${replaced.size}`)
    layout.files.push({ kind: 'dir', path, mode: 0o755 })
    replaced.set(target, path)
    return path
  }
  /** Creates the mount point of a place in a folder that is not the host's. */
  const addMountPoint = (path: string, kind: 'dir' | 'file') => {
    const dir = [...replaced.keys()].filter((key) => isInside(path, key)).reduce(deeper, '')
    const skeleton = replaced.get(dir)
    if (skeleton === undefined) return
    for (const between of foldersBetween(dir, path))
      layout.files.push({ kind: 'dir', path: skeleton + between.slice(dir.length), mode: 0o755 })
    layout.files.push({ kind, path: skeleton + path.slice(dir.length), mode: kind === 'dir' ? 0o755 : 0o600 })
  }
  const pin = (path: string, around: Place) => {
    for (const folder of foldersBetween(around.path, path)) bind('rw', folder, folder)
  }
  /** The first component of the path that does not exist, or the path itself. */
  const firstMissing = (path: string): string =>
    path !== '/' && files.kindOf(dirname(path)) === 'none' ? firstMissing(dirname(path)) : path
  const addPlaceholder = (place: Place): { path: string; kind: 'dir' | 'file' } => {
    const path = firstMissing(place.path)
    const kind = path === place.path ? place.wouldBe : 'dir'
    layout.files.push({ kind, path, mode: kind === 'dir' ? 0o755 : 0o644 })
    layout.placeholders.push(path)
    return { path, kind }
  }
  const cover = (path: string, kind: 'dir' | 'file') =>
    bind('ro', kind === 'dir' ? newFolder(path) : emptyFile, path)

  const addView = (dir: string, hidden: readonly string[], entries: ReturnType<HostFiles['entriesOf']>) => {
    const skeleton = newFolder(dir)
    bind('ro', skeleton, dir)
    for (const { name, kind, target } of entries ?? []) {
      const path = join(dir, name)
      if (hidden.includes(path)) continue
      const at = join(skeleton, name)
      if (kind === 'link') layout.files.push({ kind, path: at, target })
      else {
        layout.files.push({ kind, path: at, mode: kind === 'dir' ? 0o755 : 0o600 })
        bind('ro', path, path, true)
      }
    }
  }

  const isIn = (place: Place) => placeAround(place.path, places, { strictly: true })
  const exists = (place: Place) => place.kind !== 'none'
  const mountKind = (place: Place): 'dir' | 'file' => (place.kind === 'dir' ? 'dir' : 'file')

  // Views first: places inside them need their folders. What is missing is hidden with its first missing parent.
  const views = new Map<string, string[]>()
  for (const place of places) {
    const around = isIn(place)
    const isAdded = place.role === 'private' && !exists(place)
    if ((place.role !== 'hide' && !isAdded) || (around && around.role !== 'read')) continue
    const path = firstMissing(place.path)
    const dir = dirname(path)
    const entries = dir === '/' || SYSTEM.test(dir) ? null : files.entriesOf(dir)
    if (entries && entries.length <= MOST_ENTRIES) views.set(dir, [...(views.get(dir) ?? []), path])
    else if (isAdded) {
      const message = `${JSON.stringify(place.path)} does not exist, so nothing can be mounted there. Create it.`
      layout.problems.push({ code: 'missing', path: place.path, message })
    } else if (exists(place)) cover(place.path, mountKind(place))
    else if (!SYSTEM.test(dir))
      layout.warnings.push(`${place.path} does not exist. If it is created later, it will be visible.`)
  }
  for (const dir of [...views.keys()].toSorted((a, b) => depthOf(a) - depthOf(b)))
    addView(dir, views.get(dir) ?? [], files.entriesOf(dir))

  for (const place of places) {
    const around = isIn(place)
    const isElsewhere = around?.role === 'hide' || around?.role === 'private'
    if (place.role === 'private') {
      if (isElsewhere || !exists(place)) addMountPoint(place.path, 'dir')
      if (around?.role === 'write') {
        if (!exists(place)) addPlaceholder({ ...place, wouldBe: 'dir' })
        pin(place.path, around)
      }
      replaced.set(place.path, place.source)
      bind('rw', place.source, place.path)
    } else if (isElsewhere) {
      if (place.role === 'hide' || !exists(place)) continue
      addMountPoint(place.path, mountKind(place))
      bind(place.role === 'write' ? 'rw' : 'ro', place.source, place.path)
    } else if (place.role === 'write') {
      if (around?.role !== 'write') bind('rw', place.source, place.path)
    } else if (around?.role === 'write') {
      const at = exists(place) ? { path: place.path, kind: mountKind(place) } : addPlaceholder(place)
      pin(at.path, around)
      if (place.role === 'hide') cover(at.path, at.kind)
      else bind('ro', at.path, at.path)
    }
    if ((place.role === 'hide' || place.role === 'read') && exists(place) && files.hasOtherNames(place.path))
      layout.warnings.push(
        `${place.path} has other names (hard links), which are not ${place.role === 'hide' ? 'hidden' : 'read-only'}.`,
      )
  }
  layout.binds = layout.binds.toSorted((a, b) => depthOf(a.target) - depthOf(b.target))
  return layout
}

const deeper = (a: string, b: string) => (depthOf(b) > depthOf(a) || a === '' ? b : a)
