/**
 * Arguments and options that name something by its id. Their form is checked here, while the command line is parsed;
 * daemon/resolve-references.ts finds out what is meant before the action.
 */
import { InvalidArgumentError } from 'commander'
import { kindOf, parseReference, type Referable } from '../../contract/reference.ts'

type Parse = ((text: string) => string) & { kind?: Referable; passes?: RegExp }

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

export function passesAsItIs({ parseArg }: Taker, text: string): boolean {
  return (parseArg as Parse | undefined)?.passes?.test(text) === true
}

/** An agent's id has a separator, or is longer than Reprise's. Other characters would change the path of the URL. */
const AGENTS_OWN = /^(?=.*[.:-]|.{31})\w[\w.:-]*$/

/** The id of a session: Reprise's own or the agent's. */
export const sessionArgument = idArgument('ses', { passes: AGENTS_OWN, otherwise: ", or the agent's own id" })
