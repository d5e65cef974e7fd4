/** Where `cd` leads. */
import { type Field, literal, UNKNOWN } from '../command.ts'
import type { Look } from '../look.ts'
import { joinCwds, type Scope } from '../scope.ts'

export function changeDirectories(
  args: readonly Field[],
  assigned: readonly string[],
  scope: Scope,
  change: (target: Field | undefined, scope: Scope, physically: boolean) => void,
): void {
  const before = scope.cwds
  const physically = args.some(({ text }) => /^-[LPe@n]*P/.test(text))
  const all = directoriesOf(args, assigned, scope).map((target) => {
    scope.cwds = before
    change(target, scope, physically)
    return scope.cwds
  })
  const stays = args.some(({ text }) => /^-[LPe@n]*n/.test(text))
  // `pushd -n` only notes where to.
  scope.cwds = stays ? joinCwds(before, all.reduce(joinCwds)) : all.reduce(joinCwds)
}

function directoriesOf(
  args: readonly Field[],
  assigned: readonly string[],
  scope: Scope,
): (Field | undefined)[] {
  let at = 0
  while (/^-[LPe@n]+$/.test(args[at]?.text ?? '')) at++
  if (args[at]?.text === '--') at++
  const target = args[at]
  // `pushd +1`
  if (target && /^[+-]\d+$/.test(target.text)) return [{ text: UNKNOWN, unknown: 'one' }]
  const previous = target?.text === '-' ? scope.state.variables.get('OLDPWD') : undefined
  if (previous) return [target, ...previous.texts.map(literal)]
  if (!target || /^(\/|\.\.?(\/|$)|-$)/.test(target.text)) return [target]
  const given = assigned.findLast((text) => /^CDPATH\+?=/.test(text))?.replace(/^CDPATH=/, '')
  const held = scope.state.variables.get('CDPATH')
  if (given === undefined && !held) return [target]
  // It may be below one of these, if it is there.
  const lists = given === undefined ? (held?.texts ?? []) : [given]
  const places = lists.flatMap((list) => list.split(':')).filter((place) => place !== '')
  return [
    target,
    ...places.map((place) => ({ ...target, text: `${place}/${target.text}` })),
    ...(held?.unknown || /[$`]|^CDPATH/.test(given ?? '')
      ? [{ ...literal(UNKNOWN), unknown: 'one' as const }]
      : []),
  ]
}

/** Where a shell or a program begins that does not begin where it was called: in a home, which may be that of another user. */
export function loginScope(scope: Scope, walker: Pick<Look, 'changeDirectory'>): Scope {
  const inside = { ...scope }
  walker.changeDirectory(undefined, inside)
  inside.cwds = joinCwds(inside.cwds, [undefined])
  return inside
}
