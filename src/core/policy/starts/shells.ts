/** What a shell is given to run. */
import { holdsArguments } from '../evaluated.ts'
import { changesReading, HARMLESS_SETTINGS, READS_OTHERWISE } from './controlling.ts'
import { readByShell, type Starting } from './starting.ts'

/** Shells that read a text as we do. */
const READ_ALIKE = /^(sh|bash|dash|ash|rbash)$/

/** The text of `sh -c`, of its stdin, or a script that cannot be seen. */
export function startShell(starting: Starting): void {
  const { args, scope, walker, program } = starting
  starting.done()
  if (!READ_ALIKE.test(program)) starting.opaque('is read by another shell, which may see more in it')
  let at = 0
  let wantsText = false
  for (; at < args.length; at++) {
    const arg = args[at]
    if (!arg || arg.unknown === 'many') {
      starting.opaque('gives a shell arguments that are not known')
      return
    }
    const { text } = arg
    if (text === '--' || text === '-') {
      at++
      break
    }
    if (!/^[-+]./.test(text)) break
    // `-oc errexit text`: shells differ in where the value is.
    if (/^[-+][a-zA-Z]*[oO][a-zA-Z]/.test(text)) starting.opaque('gives a shell arguments that are not known')
    if (/^-[a-zA-Z]*c/.test(text) && !text.startsWith('--')) wantsText = true
    else if (text === '--command') wantsText = true
    if (/^[-+][a-zA-Z]*O$/.test(text) && !HARMLESS_SETTINGS.test(args[at + 1]?.text ?? ''))
      walker.giveUp(READS_OTHERWISE)
    if (/^--(rcfile|init-file)$/.test(text) || /^[-+][a-zA-Z]*[oO]$/.test(text)) at++
  }
  if (changesReading(args.slice(0, at))) walker.giveUp(READS_OTHERWISE)
  const first = args[at]
  // Of `sh -c text _`, the word behind the text is `$0`.
  const others = args.slice(wantsText ? at + 1 : at)
  holdsArguments(walker.evaluated, others[0]?.text === '_' ? others.slice(1) : others)
  if (wantsText) {
    starting.gives(first, args.slice(at + 2), { cleared: false })
    return
  }
  const readsInput = args.some(({ text }) => /^-[a-z]*s[a-z]*$/.test(text))
  if (first && !readsInput && first.text !== '/dev/stdin') {
    starting.opaque('runs a script that cannot be seen')
    return
  }
  const { input } = scope
  if (input.kind === 'text')
    walker.text(readByShell(input.text), starting.otherShell(args.slice(at), { input: { kind: 'none' } }))
  else if (input.kind === 'unknown') starting.opaque('feeds a shell with something that cannot be seen')
}
