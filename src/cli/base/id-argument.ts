/**
 * Arguments and options that name something by its id. Their form is checked here, while the command line is parsed;
 * daemon/resolve-references.ts finds out what is meant before the action.
 */
import { InvalidArgumentError } from 'commander'
import { kindOf, parseReference, type Referable } from '../../contract/reference.ts'

type Parse = ((text: string) => string) & { kind?: Referable; passes?: RegExp; takesAnyKind?: boolean }

/** For the ids of things that people do not name by short forms. */
export function wholeIdArgument(prefix: string): (text: string) => string {
  const form = new RegExp(`^${prefix}_\\w+$`)
  return (text) => {
    if (!form.test(text)) throw new InvalidArgumentError(`expected an id such as ${prefix}_01J…`)
    return text
  }
}

/**
 * `passes`: texts that are given to the action as they are, such as names. `otherwise` is added to the error about any
 * other text.
 */
export function idArgument(
  prefix: string,
  { passes, otherwise = '' }: { passes?: RegExp; otherwise?: string } = {},
): (text: string) => string {
  const kind = kindOf(prefix)
  if (kind === null) throw new Error(`nothing has ids that begin with ${prefix}_`)
  const parse: Parse = (text) => {
    if (passes?.test(text) || parseReference(text)) return text
    throw new InvalidArgumentError(
      `expected an id such as ${prefix}_01J…, a part of one, or last${otherwise}`,
    )
  }
  return Object.assign(parse, { kind, ...(passes ? { passes } : {}) })
}

/** An argument or an option of a command. */
export interface Taker {
  parseArg?: unknown
}

/** The kind of id that it takes; null if it takes something else. */
export function kindTakenBy({ parseArg }: Taker): Referable | null {
  return (parseArg as Parse | undefined)?.kind ?? null
}

/** The kinds of things whose ids or names it takes, for completion. */
export function kindsTakenBy(taker: Taker): readonly Referable[] {
  if ((taker.parseArg as Parse | undefined)?.takesAnyKind) return ANY_KIND
  const kind = kindTakenBy(taker)
  return kind === null ? [] : [kind]
}

const ANY_KIND: readonly Referable[] = ['job', 'conversation', 'watch', 'run']

export function passesAsItIs({ parseArg }: Taker, text: string): boolean {
  return (parseArg as Parse | undefined)?.passes?.test(text) === true
}

/** An agent's id has a separator, or is longer than Reprise's. Other characters would change the path of the URL. */
const AGENTS_OWN = /^(?=.*[.:-]|.{31})\w[\w.:-]*$/

/** The id of a session: Reprise's own or the agent's. */
export const sessionArgument = idArgument('ses', { passes: AGENTS_OWN, otherwise: ", or the agent's own id" })

/** An id of any kind, or the name of a watch. The action finds out what is meant. */
export const anyIdArgument: (text: string) => string = Object.assign(
  (text: string) => {
    if (parseReference(text) || /^[a-z0-9][a-z0-9._-]{0,62}$/.test(text)) return text
    throw new InvalidArgumentError('is neither an id nor the name of a watch')
  },
  { takesAnyKind: true },
)
