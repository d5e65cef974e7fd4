/** Refuses files that are named by arguments, by their kinds (file-kinds.ts), and arguments that lead to something hidden. */
import type { Reading } from './arguments.ts'
import { type Call, type CallFacts, placesOf, type Refusal, showCall, someAgentCanWrite } from './call.ts'
import { isAddress, kindOf, pathIn } from './file-kinds.ts'

/** Files that are named by words, or found without being named: `helm upgrade web ./chart`, ansible.cfg. */
function impliedInputs({ program, words, options }: Reading, { cwd }: Call, facts: CallFacts): string[] {
  const isPath = (word: string) =>
    /[/.]/.test(word[0] ?? '') || facts.exists(placesOf(word, cwd, facts)[0] ?? word)
  switch (program) {
    case 'ansible':
      return ['ansible.cfg']
    case 'ansible-playbook':
      return ['ansible.cfg', ...words]
    case 'terraform':
      return options.some(({ name }) => name === '--chdir')
        ? words.slice(1).filter(isPath)
        : ['.', ...words.slice(1).filter(isPath)]
    case 'helm':
      return words.slice(1).filter(isPath)
    case 'systemctl':
      return words.slice(1).filter((word) => word.includes('/'))
    default:
      return []
  }
}

/** `looks`: the call only looks, so it does nothing that an unnamed file could say. */
export function fileRefusal(
  reading: Reading,
  call: Call,
  { restricts, looks }: { restricts: boolean; looks: boolean },
  facts: CallFacts,
): Refusal | undefined {
  const shown = showCall(call)
  const refuse = (rule: string, why: string, advice: string): Refusal => ({
    reason: `\`${shown}\` is refused: ${why}. ${advice}`,
    rule,
  })
  const written = (path: string) => someAgentCanWrite(path, call.cwd, facts)
  const ownInput = (path: string) =>
    refuse(
      'agent-written',
      `${path} says what it does, and you could have written it`,
      'Recommend escalation, or ask a person.',
    )
  for (const option of reading.options) {
    const { name, value } = option
    if (value === undefined) continue
    const path = pathIn(value)
    switch (kindOf(reading, option)) {
      case 'command':
        return refuse(
          'options',
          `${name} names a command that would be started on this host`,
          'Leave it out.',
        )
      case 'place':
        return refuse('options', `with ${name} the login would be sent to another place`, 'Leave it out.')
      case 'config':
        if (written(path))
          return refuse(
            'agent-written',
            `${name} names ${path}, which you could have written`,
            'Leave it out.',
          )
        break
      case 'output':
        if (!/^(-|none|type=(docker|image|registry|inline|gha).*)?$/.test(value))
          return refuse(
            'output',
            `${name} would write ${path} with rights that you do not have`,
            'Use standard output.',
          )
        break
      case 'folder':
        if (!placesOf(path, call.cwd, facts).every(facts.agentCanWrite))
          return refuse(
            'output',
            `${name} would write into ${path}, where you may not write`,
            'Name another folder.',
          )
        break
      case 'data':
        if (restricts && value !== '-' && !isAddress(value) && written(path))
          return refuse(
            'agent-written',
            `${path} could become another file before it is read`,
            'Give the text itself, or standard input.',
          )
        break
      case 'input':
        if (!restricts || isAddress(value)) break
        if (value === '-' || written(path)) return ownInput(value === '-' ? 'standard input' : path)
        break
      default:
    }
  }
  if (!restricts || looks) return undefined
  const implied = impliedInputs(reading, call, facts).find(written)
  return implied === undefined ? undefined : ownInput(implied)
}

/** Linux has no longer paths, and no argument that names one has more parts. */
const LONGEST_PATH = 8192
const MOST_PARTS = 64
const MOST_PATHS = 20_000

/** An argument that leads to something hidden, whatever it is used for. */
export function hiddenRefusal(reading: Reading, call: Call, facts: CallFacts): Refusal | undefined {
  const keys = new Set(
    reading.options.flatMap((option) => (kindOf(reading, option) === 'key' ? [option.index] : [])),
  )
  const values = reading.options.flatMap(({ value, index }) => (value && !keys.has(index) ? [value] : []))
  const own = reading.args.slice(0, reading.own).filter((_, index) => !keys.has(index))
  const parts = new Set([...own, ...values].flatMap(partsOf))
  if (parts.size > MOST_PATHS) throw new Error('it may name too many paths')
  for (const part of parts) {
    const hidden = placesOf(part, call.cwd, facts).find(facts.isHidden)
    if (hidden === undefined) continue
    return {
      reason: `\`${showCall(call)}\` may never run: ${part} leads to ${hidden}, which is hidden. Do without it, or ask a person.`,
      rule: 'hidden',
    }
  }
  return undefined
}

/** The texts in an argument that may be paths: `--from-file=key=path`, `type=bind,src=path`, `@path`, `-fpath`. */
function partsOf(arg: string): string[] {
  if (arg.length > LONGEST_PATH) return []
  const sign = arg.indexOf('=')
  const parts = arg.split(/[=,@#]/, MOST_PARTS)
  if (sign !== -1) parts.push(arg.slice(sign + 1).replace(/^@/, ''))
  if (!arg.startsWith('-')) parts.push(arg.replace(/^@/, ''))
  else if (arg.includes('/')) parts.push(arg.slice(arg.indexOf('/')))
  return parts.filter((part) => part !== '')
}
