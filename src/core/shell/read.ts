/**
 * Reads a shell text plainly: finds the commands that are written out in it, and says which parts are not. Values are
 * never expanded: a word with a variable, a substitution or braces is unclear, whatever it may become.
 *
 * Invariant: what is neither in `commands` nor in `unclear` starts no program and writes no file.
 */
import { parse } from 'unbash'
import { Findings, TooMuch } from './findings.ts'
import type { ShellReading } from './reading.ts'
import { deeper, type Scope } from './scope.ts'
import { startCommand } from './start.ts'
import { NOTHING, walkAll } from './walk.ts'

const LONGEST_TEXT = 100_000
/** The parser looks for the end of each `{` up to the end of its word. */
const MOST_BRACE_STEPS = 2_000_000
/** For each, the parser looks for its end up to the end of the text. */
const MOST_HERE_DOCUMENTS = 500

export function readShell(text: string): ShellReading {
  return withinBounds(text, (scope) => readText(text, scope))
}

/** Reads an argument list as it would be started without a shell. */
export function readArguments(argv: readonly string[]): ShellReading {
  const text = argv.join(' ')
  return withinBounds(text, (scope) => startCommand({ ...NOTHING, argv }, text, scope))
}

function withinBounds(source: string, read: (scope: Scope) => void): ShellReading {
  const findings = new Findings()
  const scope = { source, depth: 0, repeated: false, elevated: false, text: readText, script: readScript }
  try {
    read({ findings, ...scope })
    return findings.reading()
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    return { commands: [], unclear: [{ text: source, why: error.message }] }
  }
}

function readText(text: string, scope: Scope): void {
  if (text.length > LONGEST_TEXT) throw new TooMuch(`is longer than ${LONGEST_TEXT} characters`)
  if (braceSteps(text) > MOST_BRACE_STEPS) throw new TooMuch('has too many braces')
  if (text.split('<<').length > MOST_HERE_DOCUMENTS) throw new TooMuch('has too many here-documents')
  readScript(parse(text), { ...scope, source: text })
}

const readScript: Scope['script'] = (script, scope) => {
  const source = script.source ?? scope.source
  const problem = script.errors?.[0]
  if (problem) scope.findings.note(source, `is not what a shell accepts (${problem.message})`)
  walkAll(script.commands, { ...deeper(scope), source })
}

function braceSteps(text: string): number {
  let steps = 0
  for (const word of text.split(/\s+/))
    if (word.includes('{')) steps += (word.split('{').length - 1) * word.length
  return steps
}
