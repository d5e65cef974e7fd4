/** Functions and aliases of the text itself. */
import { type Field, NOTHING } from '../command.ts'
import { innerScope, joinCwds } from '../scope.ts'
import type { Starting } from './starting.ts'

/** Builtins that, where the shell keeps to POSIX, come before functions and leave variables set that stand in front of them. */
export const SPECIAL: ReadonlySet<string> = new Set(
  ': . source break continue eval exec exit export readonly return set shift times trap unset'.split(' '),
)

/** A function or an alias of this text. Says whether it is certainly nothing else. */
export function isCalled({ command, name, args, scope, walker }: Starting): boolean {
  const { assigned, redirects } = command
  const { state } = scope
  if (state.functions.size === 0 && state.aliases.size === 0) return false
  if (state.functions.has(name.text)) {
    // What is written to is written to by the whole function.
    const inside = redirects.length > 0 ? { ...scope, redirects: [...scope.redirects, ...redirects] } : scope
    if (redirects.length > 0) walker.add({ words: NOTHING, redirects, assigned: [] }, scope)
    let certain = false
    state.withAssigned(assigned, () => {
      certain = walker.call(name.text, args, inside)
    })
    scope.cwds = inside.cwds
    if (certain && !SPECIAL.has(name.text)) return true
  }
  const alias = state.aliases.get(name.text)
  if (alias !== undefined) {
    // Whether aliases are used depends on the shell.
    const inner = innerScope(scope)
    inner.state.dropAlias(name.text)
    walker.text(`${alias} ${args.map(quote).join(' ')}`, inner)
    state.join(inner.state)
    scope.cwds = joinCwds(scope.cwds, inner.cwds)
  }
  return false
}

export const quote = ({ text, unknown }: Field) =>
  unknown ? '"$__unknown__"' : `'${text.replaceAll("'", "'\\''")}'`
