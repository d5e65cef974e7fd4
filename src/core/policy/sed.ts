/** What a sed command does, as far as its script is one that we can read as a whole. */
import type { Field } from './command.ts'
import { isOption } from './options.ts'

export interface SedUse {
  /** Every option and every step of the script was understood, and none of them starts or writes something. */
  understood: boolean
  inPlace: boolean
  files: readonly Field[]
  /** Files that steps of the script write to. */
  written: readonly string[]
  /** A step of the script starts a program. */
  starts: boolean
}

const FLAGS =
  /^--(quiet|silent|regexp-extended|posix|null-data|zero-terminated|unbuffered|separate|debug|sandbox|follow-symlinks)$/

let last: { args: readonly Field[]; use: SedUse } | undefined

/** Several rules ask about one command, one after the other. */
export function readSed(args: readonly Field[]): SedUse {
  if (last?.args !== args) last = { args, use: readUse(args) }
  return last.use
}

function readUse(args: readonly Field[]): SedUse {
  const scripts: Field[] = []
  const operands: Field[] = []
  let inPlace = false
  let understood = true
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]
    if (!arg) break
    const { text } = arg
    if (text === '--') {
      operands.push(...args.slice(at + 1))
      break
    }
    if (!isOption(text)) operands.push(arg)
    else if (/^--expression$/.test(text)) scripts.push(args[++at] ?? arg)
    else if (text.startsWith('--expression=')) scripts.push({ ...arg, text: text.slice(13) })
    else if (/^--in-place/.test(text)) {
      inPlace = true
      if (!/^--in-place(=[^/*]*)?$/.test(text)) understood = false
    } else if (text.startsWith('--')) {
      if (!FLAGS.test(text)) understood = false
    } else {
      // `-i` and `-e` take the rest of the cluster.
      const [, letter, rest = ''] = /^-[nErsuz]*(?:([ie])(.*))?$/s.exec(text) ?? ['', 'none']
      if (letter === 'i') {
        inPlace = true
        // A backup may be told to lie elsewhere.
        if (/[/*]/.test(rest)) understood = false
      } else if (letter === 'e') scripts.push(rest ? { ...arg, text: rest } : (args[++at] ?? arg))
      else if (letter === 'none') {
        understood = false
        inPlace ||= /^-[^-]*i/.test(text)
      }
    }
  }
  if (args.some(({ unknown, tame }) => unknown === 'many' && !tame)) understood = false
  const files = scripts.length > 0 ? operands : operands.slice(1)
  const texts = scripts.length > 0 ? scripts : operands.slice(0, 1)
  if (texts.some(({ unknown }) => unknown)) understood = false
  const script = readScript(texts.map(({ text }) => text).join('\n'))
  const { written, starts } = script
  return {
    understood: understood && script.understood && !starts && written.length === 0,
    inPlace,
    files,
    written,
    starts,
  }
}

/** Prints or changes only what goes to the output. */
export function sedLooks(fields: readonly Field[]): boolean {
  const { understood, inPlace } = readSed(fields)
  return understood && !inPlace
}

const ADDRESS = /(?:\d+(?:~\d+)?|\$|[+~]\d+)/y
const PLAIN = /[=dDgGhHnNpPxzF]|l[ \t]*\d*|[qQ][ \t]*\d*|[btT][ \t]*\w*|:[ \t]*\w+/y
const BRACKETS = /\[\^?\]?(?:\[[:.=][^\]\n]*[:.=]\]|[^\]\n])*\]/y
const END = /[ \t]*(?:[;\n]|$|(?=[}#]))/y

/** `n`, `$`, `/x/`, `n,m`; then a step; then `;` or the end of the line. What is not that is not understood. */
function readScript(script: string): Pick<SedUse, 'understood' | 'written' | 'starts'> {
  const written: string[] = []
  let starts = false
  let at = 0
  let depth = 0

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const [found] = pattern.exec(script) ?? []
    if (found !== undefined) at += found.length
    return found
  }
  /** Up to the delimiter that is not escaped. */
  const delimited = (delimiter: string): boolean => {
    for (; at < script.length; at++) {
      const char = script[at]
      if (char === '\\') at++
      else if (char === '\n') return false
      else if (char === delimiter) {
        at++
        return true
      }
    }
    return false
  }
  /** As before, but not inside of brackets. */
  const expression = (mark: string): boolean => {
    for (; at < script.length; at++) {
      const char = script[at]
      if (char === '\\') at++
      else if (char === '\n') return false
      else if (char === mark) {
        at++
        return true
      } else if (char === '[') {
        const brackets = take(BRACKETS)
        // Whether a backslash stands for itself there, not every sed agrees.
        if (brackets === undefined || brackets.endsWith('\\]')) return false
        at--
      }
    }
    return false
  }
  const delimiter = (): string | undefined => {
    const char = script[at++] ?? '\n'
    return char === '\n' || char === '\\' || char === '\0' || char > '~' ? undefined : char
  }
  const address = (): boolean | undefined => {
    if (script[at] === '/' || script[at] === '\\') {
      if (script[at] === '\\') at++
      const mark = delimiter()
      if (mark === undefined || !expression(mark)) return undefined
      take(/[IM]*/y)
      return true
    }
    return take(ADDRESS) !== undefined
  }
  const line = () => take(/[^\n]*/y) ?? ''
  const substitution = (): boolean => {
    const mark = delimiter()
    if (mark === undefined || !expression(mark) || !delimited(mark)) return false
    for (;;) {
      take(/[gpiImM\d]*/y)
      if (script[at] === 'e') {
        starts = true
        at++
      } else break
    }
    if (script[at] !== 'w') return true
    at++
    written.push(line().trim())
    return true
  }
  const step = (): boolean => {
    switch (script[at]) {
      case '{':
        at++
        depth++
        return true
      case 's':
        at++
        return substitution() && take(END) !== undefined
      case 'y': {
        at++
        const mark = delimiter()
        return mark !== undefined && delimited(mark) && delimited(mark) && take(END) !== undefined
      }
      case 'a':
      case 'i':
      case 'c':
        at++
        return take(/[ \t]*(?!\s)(?:\\[\s\S]|[^\\\n])+\n?/y) !== undefined
      case 'w':
      case 'W':
        at++
        written.push(line().trim())
        return true
      case 'e':
        starts = true
        line()
        return true
      default:
        return take(PLAIN) !== undefined && take(END) !== undefined
    }
  }

  while (at < script.length) {
    if (take(/[\s;]+|#[^\n]*/y) !== undefined) continue
    if (script[at] === '}') {
      at++
      if (--depth < 0 || take(END) === undefined) return { understood: false, written, starts }
      continue
    }
    const first = address()
    if (first && take(/[ \t]*,[ \t]*/y) !== undefined && !address())
      return { understood: false, written, starts }
    if (first === undefined) return { understood: false, written, starts }
    take(/[ \t!]*/y)
    if (!step()) return { understood: false, written, starts }
  }
  return { understood: depth === 0, written, starts }
}
