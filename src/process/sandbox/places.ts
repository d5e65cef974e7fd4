/**
 * The first half of a plan: turns the paths of the input into places, each with its real path and one role, and refuses
 * what contradicts itself or could not be held.
 */
import { dirname, isAbsolute, normalize } from 'node:path'
import type { FileKind, HostFiles } from './host-files.ts'
import { depthOf, isInside, isWithin } from './paths.ts'
import type { SandboxInput, SandboxProblem } from './sandbox.ts'

export type Role = 'write' | 'read' | 'private' | 'hide'

export interface Place {
  role: Role
  /** The real path. */
  path: string
  kind: FileKind
  /** What a missing path would be. */
  wouldBe: 'dir' | 'file'
  /** What is seen at the path: another folder for private places, the path itself otherwise. */
  source: string
}

/** The sandbox itself decides what these hold. */
const RESERVED = ['/proc', '/dev', '/sys']

export interface Places {
  workDir: string
  /** Sorted: a place comes after those that contain it. */
  places: Place[]
  problems: SandboxProblem[]
}

export function findPlaces(input: SandboxInput, files: HostFiles): Places {
  const problems: SandboxProblem[] = []
  const refuse = (code: SandboxProblem['code'], path: string, why: string) =>
    void problems.push({ code, path, message: `${JSON.stringify(path)} ${why}` })

  const resolve = (given: string): string | null => {
    if (isAbsolute(given) && !given.includes('\0')) return files.realPath(strip(normalize(given)))
    refuse('not-absolute', given, 'is not an absolute path.')
    return null
  }
  const places: Place[] = []
  const add = (role: Role, given: string, source?: string) => {
    const path = resolve(given)
    if (path === null) return
    if (path === '/' || RESERVED.some((dir) => isWithin(path, dir))) {
      refuse('reserved-path', given, `cannot be ${ROLE_WORDS[role]}: the sandbox decides what is there.`)
      return
    }
    const kind = files.kindOf(path)
    if (role === 'write' && kind === 'none') {
      refuse('missing', given, 'does not exist. Create it, or remove it from the writable paths.')
      return
    }
    const same = places.find((place) => place.path === path)
    if (same && (same.role !== role || role === 'private')) {
      refuse('conflict', given, `cannot be both ${ROLE_WORDS[same.role]} and ${ROLE_WORDS[role]}.`)
    } else if (!same) {
      places.push({ role, path, kind, wouldBe: given.endsWith('/') ? 'dir' : 'file', source: source ?? path })
    }
  }

  for (const { path, source } of [{ path: '/tmp', source: input.tmp }, ...input.privateDirs]) {
    const from = resolve(source)
    if (from === null) continue
    if (files.kindOf(from) === 'dir') add('private', path, from)
    else refuse('not-a-folder', source, `is not a folder; it was to be seen as ${path}.`)
  }
  for (const given of input.writable) add('write', given)
  for (const given of input.readOnly) add('read', given)
  for (const given of input.hidden) add('hide', given)

  const scratch = resolve(input.scratch)
  if (scratch !== null && files.kindOf(scratch) !== 'dir')
    refuse('not-a-folder', input.scratch, 'is not a folder; the sandbox needs it for mount points.')
  const workDir = resolve(input.workDir) ?? '/'
  const found: Places = { workDir, places: sortByDepth(places), problems }
  if (files.kindOf(workDir) !== 'dir')
    refuse('not-a-folder', input.workDir, 'is not a folder; the program cannot start there.')
  if (scratch !== null && isReachable(scratch, found.places))
    refuse('conflict', input.scratch, 'is the scratch folder and must not be writable inside the sandbox.')
  checkWorkDir(input, found, refuse)
  checkLinks(input, files, found, refuse)
  return found
}

const ROLE_WORDS: Record<Role, string> = {
  write: 'writable',
  read: 'read-only',
  private: 'private',
  hide: 'hidden',
}

type Refuse = (code: SandboxProblem['code'], path: string, why: string) => void

/** The place that decides about the path. `strictly`: not the place at the path itself. */
export function placeAround(
  path: string,
  places: readonly Place[],
  { strictly = false } = {},
): Place | undefined {
  return places.findLast((place) => (strictly ? isInside(path, place.path) : isWithin(path, place.path)))
}

/** Whether the host's folder can be written from inside, at its own place or at that of a private folder. */
const isReachable = (dir: string, places: readonly Place[]) =>
  placeAround(dir, places)?.role === 'write' ||
  places.some((place) => place.role === 'private' && isWithin(dir, place.source))

/** The work directory must be seen. Under a private folder (often /tmp) that takes a mount of its own. */
function checkWorkDir(input: SandboxInput, found: Places, refuse: Refuse): void {
  const { workDir, places } = found
  const around = placeAround(workDir, places)
  if (around?.role === 'hide') {
    refuse('work-dir-hidden', input.workDir, `is the work directory, but ${around.path} is hidden.`)
  } else if (around?.role === 'private' && around.path !== workDir) {
    places.push({ role: 'read', path: workDir, kind: 'dir', wouldBe: 'dir', source: workDir })
    found.places = sortByDepth(places)
  }
}

/**
 * A link can be changed by whoever may write its folder. So a writable path may lead into a hidden place only if it names that
 * place, and a read-only path may not go through a link that the program inside could replace.
 */
function checkLinks(input: SandboxInput, files: HostFiles, { places }: Places, refuse: Refuse): void {
  for (const given of input.writable.filter(isAbsolute)) {
    const path = files.realPath(strip(normalize(given)))
    const hidden = places.find((place) => place.role === 'hide' && isInside(path, place.path))
    const isNamed = input.hidden.some(
      (dir) => isWithin(strip(normalize(given)), strip(normalize(dir))) || path === normalize(given),
    )
    if (hidden && !isNamed)
      refuse('leads-into-hidden', given, `is a link into ${hidden.path}, which is hidden.`)
  }
  for (const given of input.readOnly.filter(isAbsolute)) {
    const link = linksOn(strip(normalize(given)), files).find(
      (at) => placeAround(at, places, { strictly: true })?.role === 'write',
    )
    if (link)
      refuse(
        'replaceable-link',
        given,
        `cannot be protected: ${link} is a symbolic link in a folder that the agent can write, so the agent could replace it. ` +
          'Put the file or folder itself there, or let the agent write other folders than this one (files.write of its tier).',
      )
  }
}

/** The real locations of the symbolic links that the path goes through. */
function linksOn(path: string, files: HostFiles): string[] {
  if (path === '/') return []
  const parent = files.realPath(dirname(path))
  const here = `${parent === '/' ? '' : parent}/${path.slice(path.lastIndexOf('/') + 1)}`
  return [...linksOn(dirname(path), files), ...(files.kindOf(here) === 'link' ? [here] : [])]
}

const sortByDepth = (places: Place[]) => places.toSorted((a, b) => depthOf(a.path) - depthOf(b.path))

const strip = (path: string) => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
