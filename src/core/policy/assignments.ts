/** What assignments give to variables and arrays. */
import type { ArrayValue, Assignment, SyntaxNode, Word } from 'unbash'
import { spend } from './budget.ts'
import type { Field } from './command.ts'
import { type Expander, expandOne, expandWords } from './expand.ts'
import type { Look } from './look.ts'
import { noteNumber, noteValues } from './numbers.ts'
import { assign, type Scope } from './scope.ts'
import { ANYTHING, joinedTame, type Lists, listsOf, type Values } from './values.ts'

interface Assigning extends Look {
  expander: (scope: Scope) => Expander
  inspect: (node: SyntaxNode, scope: Scope) => void
}

/** `given`: handed to programs, too. */
export function noteAssignment(assignment: Assignment, scope: Scope, walker: Assigning, given = false): void {
  const { name, value, append, index, text } = assignment
  walker.sets(name, { value: value.type === 'Word' && !index ? value.value : undefined, given }, () => text)
  noteValues(assignment, scope, walker)
  if (index) {
    noteNumber(index, scope, walker)
    walker.inspect(index, scope)
  }
  if (value.type === 'ArrayValue') {
    array(name, value, append === true, scope, walker)
    return
  }
  const fields = expandOne(value, walker.expander(scope))
  const before = scope.state.variables.get(name)
  if (before?.lists || index) {
    element(name, index, append === true, fields, scope)
    return
  }
  const held = append ? (before ?? { texts: [], unknown: true }) : undefined
  const texts = fields.filter(({ unknown }) => !unknown).map(({ text }) => text)
  for (const text of texts) {
    for (const earlier of held?.texts ?? []) spend(earlier.length + text.length)
    walker.evaluated.holds(name, text)
  }
  assign(scope, name, {
    texts: held ? held.texts.flatMap((before) => texts.map((text) => before + text)) : texts,
    unknown: !!held?.unknown || fields.some(({ unknown }) => unknown) || (!!append && scope.loop),
    // As it stands: what is written behind what is not known may lead out of it again.
    ...(!append &&
      fields.every(isWhole) && {
        local: fields.every(({ unknown, local }) => !unknown || local),
        ...tameIn(fields),
      }),
  })
}

/** `a=(…)`, `a+=(…)`. */
function array(name: string, value: ArrayValue, append: boolean, scope: Scope, walker: Assigning): void {
  const keyed = value.elements.some(({ text }) => text.startsWith('['))
  for (const element of value.elements) {
    // `a=([x]=1)`
    if (element.text.startsWith('[')) noteNumber(element, scope, walker)
  }
  const rows: Lists = expandWords(value.elements, walker.expander(scope))
  const before = append ? scope.state.variables.get(name) : undefined
  const earlier: Lists = append ? (before ? listsOf(before) : [[ANYTHING]]) : [[]]
  // In a loop, it grows by nobody knows how much.
  const more = append && scope.loop ? [ANYTHING] : []
  if (keyed) {
    const texts = rows.flat().map(({ text }) => text.replace(/^\[[^\]]*\]\+?=/, ''))
    assign(scope, name, { texts: [...texts, ...(before?.texts ?? [])], unknown: true, lists: [[ANYTHING]] })
  } else
    assignList(
      scope,
      name,
      earlier.flatMap((list) => rows.map((row) => joined(list, row, more))),
    )
}

function joined(...lists: readonly (readonly Field[])[]): Field[] {
  for (const list of lists) spend(list.length)
  return lists.flat()
}

/** `a[1]=x`, or `a=x` where `a` is an array. */
function element(
  name: string,
  index: Word | undefined,
  append: boolean,
  fields: readonly Field[],
  scope: Scope,
): void {
  const before = scope.state.variables.get(name)
  const at = index ? (/^\d{1,4}$/.test(index.value) ? Number(index.value) : undefined) : 0
  const lists = before ? listsOf(before) : index ? [[]] : [[ANYTHING]]
  const placed = lists.flatMap((list): Lists => {
    const plain = list.every(({ unknown }) => unknown !== 'many')
    if (at === undefined || append || !plain || at > list.length || scope.loop) return [[ANYTHING]]
    return fields.map((field) => [...list.slice(0, at), field, ...list.slice(at + 1)])
  })
  const known = fields.filter(({ unknown }) => !unknown).map(({ text }) => text)
  if (placed.some((list) => list.includes(ANYTHING)))
    assign(scope, name, {
      texts: [...(before?.texts ?? []), ...known],
      unknown: true,
      lists: [[ANYTHING]],
    })
  else assignList(scope, name, placed)
}

/** Nothing is written behind what is not known that leads elsewhere. */
export const isWhole = ({ text, unknown }: Field) => !unknown || !/\.\.|[/.]$/.test(text)

/** What of the fields is unknown, is no option. */
export function tameIn(fields: readonly Field[]): Pick<Values, 'tame'> {
  const tame = joinedTame(fields.filter(({ unknown }) => unknown).map((field) => field.tame))
  return tame ? { tame } : {}
}

/** As a text, an array is its first element. */
function assignList(scope: Scope, name: string, lists: Lists): void {
  const first = lists.map(([field]) => field ?? { text: '' })
  assign(scope, name, {
    texts: first.filter(({ unknown }) => !unknown).map(({ text }) => text),
    unknown: first.some(({ unknown }) => unknown),
    lists,
  })
}
