/** What `echo`, `printf` and `cat` with a text would print: what they feed to a shell is as good as written there. */
import type { Command } from 'unbash'
import { spend } from './budget.ts'
import type { Field } from './command.ts'
import { type Expander, expandText, expandWords, quietly } from './expand.ts'
import { writtenIn } from './redirections.ts'
import type { Input } from './scope.ts'

/** What is printed by one reading of the words. */
export interface Printed {
  /** As bash prints it, and as another shell may. */
  texts: readonly [string, ...string[]]
  /** It is nothing but one of these. */
  certain: boolean
}

/** Each that it may be. Looks without noting: substitutions inside are noted when the command itself is looked at. */
export function outputsOf(
  command: Command,
  expander: Expander,
  input: Input,
): readonly Printed[] | undefined {
  const name = command.name?.value
  if (name === undefined || expander.scope.state.isRedefined(name)) return undefined
  const [cwd, ...elsewhere] = expander.scope.cwds
  if (name === 'pwd' && command.args.length === 0 && cwd !== undefined && elsewhere.length === 0)
    return [plain(cwd)]
  if (name !== 'echo' && name !== 'printf' && name !== 'cat') return undefined
  const quiet = quietly(expander)
  const words = command.args.filter((arg) => arg.type === 'Word')
  const outputs: Printed[] = []
  for (const fields of expandWords(words, quiet)) {
    const output = printed(fields)
    if (output === undefined) return undefined
    outputs.push(output)
  }
  return outputs

  function printed(fields: readonly Field[]): Printed | undefined {
    if (fields.some(({ unknown, glob }) => unknown || glob)) return undefined
    const texts = fields.map(({ text }) => text)
    if (name === 'cat') {
      const text = catOutput(command, texts, quiet, input)
      return text === undefined ? undefined : plain(text)
    }
    if (command.redirects.some(({ type }) => type !== 'Redirect')) return undefined
    return name === 'echo' ? echoOutput(texts) : printfOutput(texts)
  }
}

const plain = (text: string): Printed => ({ texts: [text], certain: true })

function catOutput(command: Command, texts: readonly string[], expander: Expander, input: Input) {
  if (texts.some((text) => text !== '-')) return undefined
  const source = command.redirects.find(({ type }) => type !== 'Redirect')
  if (source?.type === 'HereDoc') {
    if (source.delimiter?.quoted || !source.body.parts) return writtenIn(source)
    const [field, ...others] = expandText(source.body.parts, expander)
    return !field || field.unknown || others.length > 0 ? undefined : field.text
  }
  if (source?.type === 'HereString' && source.target) {
    const [fields, ...others] = expandWords([source.target], expander)
    return !fields || others.length > 0 || fields.some(({ unknown }) => unknown)
      ? undefined
      : fields.map(({ text }) => text).join(' ')
  }
  return input.kind === 'text' ? input.text : undefined
}

function echoOutput(texts: readonly string[]): Printed {
  let from = 0
  let options = ''
  for (; /^-[neE]+$/.test(texts[from] ?? ''); from++) options += texts[from]
  const text = texts.slice(from).join(' ')
  if (!text.includes('\\')) return plain(`${text}\n`)
  const read = unescaped(text, 'echo')
  // sh interprets escapes without being asked, bash does not.
  const asked = options.includes('e') && !options.includes('E')
  return { texts: asked ? [`${read.text}\n`] : [`${text}\n`, `${read.text}\n`], certain: read.certain }
}

function printfOutput([format = '', ...values]: readonly string[]): Printed | undefined {
  if (format.startsWith('-')) return undefined
  const { text, certain } = unescaped(format, 'printf')
  const places = text.match(/%[sb]/g)?.length ?? 0
  if (/%[^sb%]/.test(text)) return undefined
  if (places === 0) return { texts: [text.replaceAll('%%', '%')], certain }
  let printed = ''
  let allCertain = certain
  for (let from = 0; from === 0 || from < values.length; from += places) {
    let used = from
    spend(text.length + 1)
    printed += text.replaceAll(/%([sb%])/g, (_, kind) => {
      if (kind === '%') return '%'
      const value = values[used++] ?? ''
      spend(value.length)
      if (kind === 's') return value
      const read = unescaped(value, 'echo')
      allCertain &&= read.certain
      return read.text
    })
  }
  return { texts: [printed], certain: allCertain }
}

const CERTAIN: Record<string, string> = { n: '\n', t: '\t', '\\': '\\' }
const OTHERS: Record<string, string> = {
  r: '\r',
  a: '\x07',
  b: '\b',
  c: '',
  f: '\f',
  v: '\v',
  e: '\x1b',
  E: '\x1b',
}

const NUMBERED = 'x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}'
/** An octal number has three digits; for echo, and for `%b` of printf, besides a zero before them. */
const ESCAPES = {
  printf: new RegExp(`\\\\(${NUMBERED}|[0-7]{1,3}|.)`, 'gs'),
  echo: new RegExp(`\\\\(${NUMBERED}|0[0-7]{0,3}|[1-7][0-7]{0,2}|.)`, 'gs'),
}

/** What the escapes stand for. Shells differ in all but the commonest: where there are others, it is a guess. */
function unescaped(text: string, by: 'echo' | 'printf'): { text: string; certain: boolean } {
  let certain = true
  const read = text.replaceAll(ESCAPES[by], (whole: string, sequence: string) => {
    const known = CERTAIN[sequence]
    if (known !== undefined) return known
    // echo leaves what it does not know as it is.
    if (by === 'echo' && !/^[abcefnrtvxuUE\d'"?]/.test(sequence)) return whole
    if (by === 'printf' && sequence === '0') return '\0'
    certain = false
    if (/^[0-7xuU]./.test(sequence) || /^[0-7]$/.test(sequence)) return numbered(sequence)
    return OTHERS[sequence] ?? (/^['"?]$/.test(sequence) ? sequence : whole)
  })
  return { text: read, certain }
}

function numbered(sequence: string): string {
  const code = /^[0-7]/.test(sequence) ? Number.parseInt(sequence, 8) : Number.parseInt(sequence.slice(1), 16)
  return code > 0x10ffff ? '' : String.fromCodePoint(code)
}
