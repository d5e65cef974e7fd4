/**
 * Files that the agent could exchange between the check and the start of the program: for a link to something hidden, for instance. So
 * the program is given a private copy. Folders, and files that name others (playbooks, charts, modules), cannot be copied; tiers that
 * may use them can do anything through them anyway.
 */
import { isOption, type Reading } from './arguments.ts'
import { type Call, type CallFacts, type CopiedFile, someAgentCanWrite } from './call.ts'
import { isAddress, kindOf, pathIn } from './file-kinds.ts'

/** Programs whose input files stand alone. */
const COMPLETE_INPUT = new Set(['kubectl', 'helm', 'apprise'])

/** Commands with operands that are sent somewhere, and how many words come before these. */
const SENT: readonly (readonly [command: RegExp, before: number])[] = [
  [/^docker (secret|config) create /, 3],
  [/^docker (image )?import /, 1],
  [/^(docker|kubectl) cp /, 1],
  [/^docker container cp /, 2],
  [/^gh release (upload|create) /, 3],
  [/^gh gist create /, 2],
]

export function copiedFiles(reading: Reading, call: Call, facts: CallFacts): CopiedFile[] {
  const isExchangeable = (path: string) => path !== '-' && someAgentCanWrite(path, call.cwd, facts)
  const copies: CopiedFile[] = []
  for (const option of reading.options) {
    const { value, index } = option
    const kind = kindOf(reading, option)
    const isFile = kind === 'data' || (kind === 'input' && COMPLETE_INPUT.has(reading.program))
    if (!isFile || value === undefined || isAddress(value) || value === '-') continue
    const path = pathIn(value)
    if (isExchangeable(path)) copies.push(copyOf(reading, index, path, kind === 'data'))
  }
  for (const index of sentOperands(reading)) {
    const path = reading.args[index] ?? ''
    if (reading.program === 'gh' && path.includes('#') && isExchangeable(path))
      throw new Error('a file with a label behind # cannot be copied')
    if (isExchangeable(path) && facts.exists(absolute(path, call.cwd)))
      copies.push(copyOf(reading, index, path, false))
  }
  return copies
}

const absolute = (path: string, cwd: string) => (path.startsWith('/') ? path : `${cwd}/${path}`)

function copyOf({ args }: Reading, index: number, path: string, mustBeFile: boolean): CopiedFile {
  const arg = args[index] ?? ''
  if (!arg.endsWith(path)) throw new Error(`the place of ${path} is not certain`)
  return { index, before: arg.slice(0, arg.length - path.length), path, mustBeFile }
}

/** The indexes of operands that name files. */
function sentOperands({ program, words, args, options, own }: Reading): number[] {
  const command = `${[program, ...words].join(' ')} `
  const before = SENT.find(([form]) => form.test(command))?.[1]
  if (before === undefined) return []
  const values = new Set(options.map(({ index }) => index))
  const operands = [...args.keys()].filter(
    (index) => index < own && !values.has(index) && args[index] !== '--' && !isOption(args[index] ?? ''),
  )
  if (operands.length !== words.length) throw new Error('it is not certain which arguments are files')
  return operands.slice(before)
}
