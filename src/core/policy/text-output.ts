/** What `echo`, `printf` and `cat` with a text would print: what they feed to a shell is as good as written there. */
import type { Command } from 'unbash'
import type { Field } from './command.ts'
import { type Expander, expandText, expandWords, quietly } from './expand.ts'
import type { Input } from './scope.ts'

/** Each that it may be. Looks without noting: substitutions inside are noted when the command itself is looked at. */
export function outputsOf(command: Command, expander: Expander, input: Input): readonly string[] | undefined {
  const name = command.name?.value
  if (name === undefined || expander.scope.state.isRedefined(name)) return undefined
  const [cwd, ...elsewhere] = expander.scope.cwds
  if (name === 'pwd' && command.args.length === 0 && cwd !== undefined && elsewhere.length === 0) return [cwd]
  if (name !== 'echo' && name !== 'printf' && name !== 'cat') return undefined
  const quiet = quietly(expander)
  const words = command.args.filter((arg) => arg.type === 'Word')
  const outputs: string[] = []
  for (const fields of expandWords(words, quiet)) {
    const output = printed(fields)
    if (output === undefined) return undefined
    outputs.push(output)
  }
  return outputs

  function printed(fields: readonly Field[]): string | undefined {
    if (fields.some(({ unknown, glob }) => unknown || glob)) return undefined
    const texts = fields.map(({ text }) => text)
    if (name === 'cat') return catOutput(command, texts, quiet, input)
    if (command.redirects.some(({ type }) => type !== 'Redirect')) return undefined
    return name === 'echo' ? echoOutput(texts) : printfOutput(texts)
  }
}

function catOutput(command: Command, texts: readonly string[], expander: Expander, input: Input) {
  if (texts.some((text) => text !== '-')) return undefined
  const source = command.redirects.find(({ type }) => type !== 'Redirect')
  if (source?.type === 'HereDoc') {
    if (source.delimiter?.quoted || !source.body.parts) return source.body.text
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

function echoOutput(texts: readonly string[]): string {
  let from = 0
  let escapes = false
  for (; /^-[neE]+$/.test(texts[from] ?? ''); from++) escapes ||= texts[from]?.includes('e') ?? false
  const text = texts.slice(from).join(' ')
  // sh interprets escapes without being asked, bash does not.
  return `${escapes || text.includes('\\') ? unescaped(text) : text}\n`
}

function printfOutput([format = '', ...values]: readonly string[]): string | undefined {
  if (format.startsWith('-')) return undefined
  const text = unescaped(format)
  const places = text.match(/%[sb]/g)?.length ?? 0
  if (/%[^sb%]/.test(text)) return undefined
  if (places === 0) return text.replaceAll('%%', '%')
  let printed = ''
  for (let from = 0; from === 0 || from < values.length; from += places) {
    let used = from
    printed += text.replaceAll(/%([sb%])/g, (_, kind) => {
      if (kind === '%') return '%'
      const value = values[used++] ?? ''
      return kind === 'b' ? unescaped(value) : value
    })
  }
  return printed
}

const SINGLE: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  e: '\x1b',
}

function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|u([0-9a-fA-F]{1,4})|([ntrabfv\\e]))/g,
    (_, hex, octal, code, single) =>
      single
        ? (SINGLE[single] ?? '')
        : String.fromCharCode(hex || code ? Number.parseInt(hex ?? code, 16) : Number.parseInt(octal, 8)),
  )
}
