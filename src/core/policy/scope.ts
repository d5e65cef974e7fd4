/** What is known at one point of a shell text, besides what its shell holds: directories, what is read, how often it runs. */
import type { Redirect } from './command.ts'
import { ShellState } from './shell-state.ts'
import type { Values } from './values.ts'

/** What a command would read: nothing of interest, a text that is known, or something that cannot be known. */
export type Input = { kind: 'none' } | { kind: 'text'; text: string } | { kind: 'unknown' }

export interface Scope {
  state: ShellState
  cwds: readonly (string | undefined)[]
  input: Input
  /** What `exec < file` has put in the place of what this shell reads. */
  shell: { input: Input | undefined }
  /** Redirections of what encloses this. */
  redirects: readonly Redirect[]
  /** Whether what stands here may also be left out: a branch, the right side of `&&`. */
  conditional: boolean
  loop: boolean
  /** How often what stands here runs at most; infinite where that cannot be known. */
  times: number
  depth: number
}

const NOTHING: Input = { kind: 'none' }

export function openScope(cwd: string): Scope {
  return {
    state: new ShellState(),
    cwds: [cwd],
    input: NOTHING,
    shell: { input: undefined },
    redirects: [],
    conditional: false,
    loop: false,
    times: 1,
    depth: 0,
  }
}

/** For a subshell: it knows all that is known here, and what it changes is lost. */
export function innerScope(scope: Scope, change: Partial<Scope> = UNCHANGED): Scope {
  return {
    state: change.state ?? scope.state.copy(),
    cwds: change.cwds ?? scope.cwds,
    input: change.input ?? scope.input,
    // What it is given itself comes before what this shell reads.
    shell: change.shell ?? { input: change.input ? undefined : scope.shell.input },
    redirects: change.redirects ?? scope.redirects,
    conditional: change.conditional ?? scope.conditional,
    loop: change.loop ?? scope.loop,
    times: change.times ?? scope.times,
    depth: change.depth ?? scope.depth + 1,
  }
}

const UNCHANGED: Partial<Scope> = {}

/** For what runs before or after what is known here. */
export function atAnyTime(scope: Scope, change: Partial<Scope>): Scope {
  const state = scope.state.atAnyTime()
  return innerScope(scope, { state, cwds: joinCwds(scope.cwds, state.places), ...change })
}

export function assign({ state, conditional }: Scope, name: string, values: Values): void {
  state.assign(name, values, conditional)
}

const MOST_PLACES = 16

/** Both may be true afterwards. */
export function joinCwds(
  one: readonly (string | undefined)[],
  other: readonly (string | undefined)[],
): readonly (string | undefined)[] {
  if (one === other) return one
  const all = [...new Set([...one, ...other])]
  return all.length > MOST_PLACES ? [...all.slice(0, MOST_PLACES), undefined] : all
}
