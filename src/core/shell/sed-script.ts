/** Scripts of sed that only substitute and delete: others may write to another file, or start something. */
import { givenOptions, optionList } from './option-list.ts'

export const SED_OPTIONS = optionList(
  '-nErsz -i? -e: --in-place? --expression= --quiet --silent --regexp-extended --null-data --separate',
)

/** Whether every script in the arguments of sed is plain. */
export function isPlainEdit(args: readonly string[]): boolean {
  const given = givenOptions(args, SED_OPTIONS)
  if (!given) return false
  const named = given.options.flatMap(({ name, value }) =>
    /^(-e|--expression)$/.test(name) ? [value ?? ''] : [],
  )
  const scripts = named.length > 0 ? named : given.operands.slice(0, 1)
  return scripts.length > 0 && scripts.every((script) => PLAIN.test(script))
}

// Brackets may hide where an address ends, so there are none in it.
const ADDRESS = String.raw`(?:\d+|\$|\/(?:[^/\\[\n]|\\.)*\/)`
const PLAIN = new RegExp(
  String.raw`^(?:${ADDRESS}(?:,${ADDRESS})?)?(?:d|s([/|#,])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gIi\d]*)$`,
)
