/** What a variable may hold: texts that are known, and what is known of the rest. Where it may hold this or that, it holds both. */
import { spend } from './budget.ts'
import { type Field, type Tame, UNKNOWN } from './command.ts'

/** Everything a variable may hold here; `unknown` when it may also hold something else. */
export interface Values {
  texts: readonly string[]
  unknown: boolean
  /** Names of files that have one of these forms. */
  globs?: readonly string[]
  /** What is unknown leads nowhere that somebody could choose. */
  local?: boolean
  /** What is unknown is no option. */
  tame?: Tame | undefined
  /** Of an array: each row of elements it may hold. */
  lists?: Lists
}

/** Rows of words, of which one is there. */
export type Lists = readonly (readonly Field[])[]

export const ANYTHING: Field = { text: UNKNOWN, unknown: 'many' }
export const ANY_LIST: Lists = [[ANYTHING]]
export const NOT_KNOWN: Values = { texts: [], unknown: true }
export const EMPTY: Values = { texts: [''], unknown: false }
const MOST_VALUES = 16
const MOST_LISTS = 8

export function union(one: Values, other: Values): Values {
  for (const text of [...one.texts, ...other.texts]) spend(text.length + 1)
  const globs = [...new Set([...(one.globs ?? []), ...(other.globs ?? [])])]
  const isLocal = (values: Values) => !values.unknown || values.local === true
  return limited({
    texts: [...new Set([...one.texts, ...other.texts])],
    unknown: one.unknown || other.unknown,
    ...(globs.length > 0 && { globs }),
    ...(isLocal(one) && isLocal(other) && { local: true }),
    tame: joinTame(one, other),
    ...((one.lists || other.lists) && { lists: [...listsOf(one), ...listsOf(other)] }),
  })
}

/** What each of them is, at least. */
export function joinedTame([first, ...others]: readonly (Tame | undefined)[]): Tame | undefined {
  if (!first || others.includes(undefined)) return undefined
  if (others.every((tame) => tame === first)) return first
  return first === 'place' || others.includes('place') ? 'place' : 'name'
}

function joinTame(one: Values, other: Values): Tame | undefined {
  if (!one.unknown || !other.unknown) return one.unknown ? one.tame : other.tame
  return joinedTame([one.tame, other.tame])
}

export function limited(values: Values): Values {
  const { texts, globs = [], lists } = values
  const tooMany = texts.length > MOST_VALUES || globs.length > MOST_VALUES
  if (!tooMany && !lists) return values
  const { local: _, tame: __, ...others } = values
  return {
    ...(tooMany ? { ...others, texts: texts.slice(0, MOST_VALUES), unknown: true } : values),
    ...(lists && { lists: limitedLists(lists) }),
  }
}

export function limitedLists(lists: Lists): Lists {
  for (const list of lists) for (const { text } of list) spend(text.length + 1)
  const seen = new Map(lists.map((list) => [JSON.stringify(list), list]))
  return seen.size > MOST_LISTS ? ANY_LIST : seen.size === lists.length ? lists : [...seen.values()]
}

/** What a variable holds as an array. */
export function listsOf({ texts, unknown, globs, lists }: Values): Lists {
  if (lists) return lists
  return [...texts.map((text) => [{ text }]), ...(unknown || globs ? ANY_LIST : [])]
}
