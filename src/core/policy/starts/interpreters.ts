/** Programs that run a text of their own language. */
import { asksVersion } from '../looks/system.ts'
import { AWKS, awkActs } from './awk.ts'
import type { Starting } from './starting.ts'
import { INTERPRETERS } from './wrappers.ts'

/** `python3.12` is python. */
export const isInterpreter = (program: string) =>
  INTERPRETERS.has(program) || (endsInDigit(program) && INTERPRETERS.has(program.replace(/[\d.]+$/, '')))

const endsInDigit = (text: string) => {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0x30 && last <= 0x39
}

const SED_ACTS = /(?:^|[;{}\n\d$/])\s*[wWe](?:\s+\S|$)|\/[gpiImM\d]*[we][gpiImM\d]*(?:\s|;|$)/

/** Whether it runs a program text, of which nobody sees what it starts. */
export function interprets({ program, args, scope }: Starting): boolean {
  if (AWKS.has(program)) return awkActs(args)
  // `w` writes, `e` runs something.
  if (program === 'sed') return args.some(({ text }) => SED_ACTS.test(text))
  if (!isInterpreter(program)) return false
  // `--version` alone does nothing; anything else runs a text, a file or its stdin.
  if (asksVersion(program, args)) return false
  return args.length > 0
    ? !args.every(({ text }) => /^(--version|-V|--help)$/.test(text))
    : scope.input.kind !== 'none'
}
