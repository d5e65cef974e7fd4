/** A program start as the broker received it, what the judge must know about the world, and what it answers. */
import type { Action } from './cooldown.ts'
import { absolutePath } from './paths.ts'

/** A program start as the broker received it. */
export interface Call {
  program: string
  args: readonly string[]
  cwd: string
}

/** What the judge must know about the world; the caller computes the answers. Paths are absolute. */
export interface CallFacts {
  home: string
  /**
   * Whether the agent could have written or replaced what is at this path, or could create it there: the path itself, or
   * a symbolic link that is followed on the way.
   */
  agentCanWrite: (path: string) => boolean
  /** Whether the path is hidden from the agent: it is one of the hidden paths, or below one. */
  isHidden: (path: string) => boolean
  /** Whether one of the hidden paths is below this path. */
  containsHidden: (path: string) => boolean
  /** Whether no tier may change what is at this path, above it or below it. */
  isProtected: (path: string) => boolean
  realPath: (path: string) => string
  exists: (path: string) => boolean
  /** Bounded read of a file; null: it cannot be read. */
  readFile: (path: string) => string | null
  /** Addresses of the repository's remotes by name, fixed before the run. Absent: not known. */
  remotes?: ReadonlyMap<string, string>
  /** Whether a command that is started elsewhere (in a container, on another host) only looks. Absent: none does. */
  innerLooks?: (argv: readonly string[]) => boolean
}

export interface Refusal {
  /** For the agent: what is wrong, and what it can do instead. */
  reason: string
  /** The pattern or the kind of rule that decided. */
  rule: string
}

export type CallDecision =
  | (Refusal & {
      decision: 'deny'
      /** Refused only because nothing may be changed; the rules allow it. */
      dryRun?: true
    })
  | {
      decision: 'allow'
      /** It only looks. */
      looks: boolean
      /** What it does that has a cooldown. */
      actions: Action[]
      /** As given, or made safe. The program must be started with these, in this directory. */
      args: readonly string[]
      cwd: string
      /** Files that the agent could exchange before they are read. */
      copies: readonly CopiedFile[]
    }

/**
 * The broker starts the program with a file of its own in this argument, behind `before`: with the text that was judged, or with a copy of
 * the file. A folder stays as it is, unless only a file makes sense.
 */
export type CopiedFile = { index: number; before: string } & (
  | { text: string }
  | { path: string; mustBeFile: boolean }
)

const LONGEST_SHOWN = 200

/** The call as people write it, cut if it is long. */
export function showCall({ program, args }: Pick<Call, 'program' | 'args'>): string {
  let shown = program
  for (const arg of args) {
    shown += ` ${/^[\w@%+=:,./{}*?~-]+$/.test(arg) ? arg : `'${arg}'`}`
    if (shown.length > LONGEST_SHOWN) return `${shown.slice(0, LONGEST_SHOWN)}…`
  }
  return shown
}

/** The places that a path argument may mean: as written, and where links lead. */
export function placesOf(path: string, cwd: string, { home, realPath }: CallFacts): string[] {
  const written = absolutePath(path, cwd, home)
  // `link/..` is the parent of the link's target, so the text is resolved as it stands too.
  const asGiven = path.includes('..') ? [realPath(path.startsWith('/') ? path : `${cwd}/${path}`)] : []
  return [...new Set([written, realPath(written), ...asGiven])]
}

export const someAgentCanWrite = (path: string, cwd: string, facts: CallFacts) =>
  placesOf(path, cwd, facts).some(facts.agentCanWrite)

/** Whether the path is hidden, or something below it. */
export const holdsHidden = (path: string, cwd: string, facts: CallFacts) =>
  placesOf(path, cwd, facts).some((place) => facts.isHidden(place) || facts.containsHidden(place))
