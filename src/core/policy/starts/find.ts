/** What `find … -exec` starts. */
import { baseName, type Field, literal, UNKNOWN } from '../command.ts'
import { isOption } from '../options.ts'

/** Where the command that begins there ends: at `;`, or at `+` behind `{}`. */
export function endOfExec(args: readonly Field[], from: number): number {
  return args.findIndex(
    ({ text }, index) =>
      index >= from && (text === ';' || (text === '+' && index > from && args[index - 1]?.text === '{}')),
  )
}

/** Where it begins to search; what may stand before that says how it searches. */
export function startPoints(args: readonly Field[]): Field[] {
  if (args.some(({ text }) => text === '-files0-from')) return [{ text: UNKNOWN, unknown: 'many' }]
  let from = 0
  while (/^(-[HLPEXdsx]+|-O.*|-D|--)$/s.test(args[from]?.text ?? ''))
    from += args[from]?.text === '-D' ? 2 : 1
  const points: Field[] = []
  for (const arg of args.slice(from)) {
    if (/^[-(!]/.test(arg.text)) break
    if (arg.text !== '') points.push(arg)
  }
  return points.length > 0 ? points : [literal('.')]
}

/** `-name x`: before anything is started, all files but those of a name are left out. */
function seeksName(args: readonly Field[]): boolean {
  if (args.some(({ text }) => /^(!|-not|-o|-or|,)$/.test(text))) return false
  const starts = args.findIndex(({ text }) => STARTS.test(text))
  return args
    .slice(0, starts)
    .some(({ text }, index) => /^-i?(name|path|wholename)$/.test(text) && isName(args[index + 1]?.text ?? ''))
}

const STARTS = /^-(exec|execdir|ok|okdir)$/

/** Something of it is written out, besides the directories it is in. */
const isName = (pattern: string) => /\w\w|\.\w/.test(baseName(pattern).replaceAll(/\[[^\]]*\]|\\./g, ''))

/** Of fd, what stands before the command is a pattern, the values of options, and where it begins. */
const isPlace = ({ text }: Field) => text.includes('/')

function placesOf(words: readonly Field[]): Field[] {
  const places = words.filter(isPlace)
  return places.length > 0 ? places : [literal('.')]
}

/** A file below one of the starting points takes the place of `{}`. */
export function findCommands(
  program: string,
  args: readonly Field[],
  next: (words: readonly Field[]) => void,
): void {
  const short = program !== 'find'
  for (const [index, { text }] of args.entries()) {
    if (!(short ? /^(-\w*[xX]|--exec|--exec-batch)$/ : STARTS).test(text)) continue
    const end = endOfExec(args, index + 1)
    const given = args.slice(index + 1, end === -1 ? args.length : end)
    // Where no place is marked, fd puts what it found at the end.
    const words = short && !given.some((word) => word.text.includes('{')) ? [...given, literal('{}')] : given
    const before = args.slice(0, index).filter((arg) => !isOption(arg.text))
    const roots = short ? placesOf(before) : startPoints(args)
    const each = short ? !before.some((arg) => !isPlace(arg) && isName(arg.text)) : !seeksName(args)
    for (const root of roots) {
      next(
        words.map((word) =>
          word.text.includes('{}')
            ? {
                text: word.text.replaceAll('{}', `${root.text.replace(/\/$/, '')}/${UNKNOWN}`),
                unknown: 'one',
                ...(word.text === '{}' && !root.unknown && { tame: 'name' as const }),
                ...(word.text === '{}' && each && { each }),
              }
            : word,
        ),
      )
    }
  }
}
