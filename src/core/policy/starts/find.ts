/** What `find … -exec` starts. */
import { type Field, literal, UNKNOWN } from '../command.ts'

/** Where the command that begins there ends: at `;`, or at `+` behind `{}`. */
export function endOfExec(args: readonly Field[], from: number): number {
  return args.findIndex(
    ({ text }, index) =>
      index >= from && (text === ';' || (text === '+' && index > from && args[index - 1]?.text === '{}')),
  )
}

/** A file below one of the starting points takes the place of `{}`. */
export function findCommands(
  program: string,
  args: readonly Field[],
  next: (words: readonly Field[]) => void,
): void {
  const short = program !== 'find'
  const starts = args
    .slice(0, args.findIndex(({ text }) => /^[-(!]/.test(text)) >>> 0)
    .filter(({ text }) => text !== '')
  const roots = short || starts.length === 0 ? [literal('.')] : starts
  for (const [index, { text }] of args.entries()) {
    if (!(short ? /^(-\w*[xX]|--exec|--exec-batch)$/ : /^-(exec|execdir|ok|okdir)$/).test(text)) continue
    const end = endOfExec(args, index + 1)
    const words = args.slice(index + 1, end === -1 ? args.length : end)
    for (const root of roots) {
      next(
        words.map((word) =>
          word.text.includes('{}')
            ? {
                text: word.text.replaceAll('{}', `${root.text.replace(/\/$/, '')}/${UNKNOWN}`),
                unknown: 'one',
                ...(word.text === '{}' && !root.unknown && { tame: 'name' as const }),
              }
            : word,
        ),
      )
    }
  }
}
