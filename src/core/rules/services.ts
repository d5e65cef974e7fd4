/** To which services a call does something that has a cooldown, and the name that each is counted under. */
import { isOption, optionValues, type Reading } from './arguments.ts'
import { type Call, type CallFacts, type Refusal, showCall } from './call.ts'
import { type Action, type Cooldowns, type CountedPattern, EVERY } from './cooldown.ts'
import { optionNames } from './option-names.ts'
import { absolutePath, baseName } from './paths.ts'
import { wordMeets } from './pattern.ts'

/** With one of these the command only says what it would do. */
const REHEARSING: ReadonlyMap<string, RegExp> = new Map([
  ['docker', /^--(dry-run|help)$/],
  ['systemctl', /^--help$/],
  ['kubectl', /^--(dry-run=(client|server)|help)$/],
  ['helm', /^--(dry-run(=(client|server))?|help)$/],
  ['ansible-playbook', /^(--(check|syntax-check|list-hosts|list-tasks|list-tags|help|version)|-C)$/],
])

export type FoundActions = { actions: Action[] } | { unclear: Refusal }

/** Generous: what may be such an action is one, or is refused. */
export function actionsOf(
  call: Call,
  reading: Reading,
  cooldowns: Cooldowns,
  facts: CallFacts,
): FoundActions {
  const found = new Map<string, Action>()
  if (rehearses(reading)) return { actions: [] }
  for (const counted of cooldowns.byProgram.get(reading.program) ?? []) {
    const words = servicesIn(counted, reading)
    if (!words) continue
    const services = nameServices(counted, words, reading, call, facts)
    const command = showCall(call)
    const { rule, pattern } = counted
    if (!services) {
      return {
        unclear: {
          rule: `cooldowns.${rule}`,
          reason: `\`${command}\` may be what the cooldown "${rule}" counts (${pattern.source}), and which service it is about cannot be known. Write out the service's name.`,
        },
      }
    }
    for (const service of services.names)
      found.set(`${rule} ${service}`, { rule, service, scope: services.scope, command })
  }
  return { actions: [...found.values()] }
}

/** Certainly only says what it would do: the option is there, once, and is not the value of another one. */
function rehearses({ program, args, options, own }: Reading): boolean {
  const form = REHEARSING.get(program)
  if (!form) return false
  const at = args.findIndex((arg, index) => index < own && form.test(arg))
  if (at === -1 || options.some(({ index, value }) => index === at && value === args[at])) return false
  const before = args[at - 1] ?? ''
  const [name = ''] = args[at]?.split('=', 1) ?? []
  if (isOption(before) && !before.includes('=') && !options.some(({ index }) => index === at - 1))
    return false
  return !args.some((arg, index) => index !== at && (arg === '--' || arg.startsWith(name)))
}

/** The words that are services, over both readings of options that are not known; undefined: no match. */
function servicesIn(counted: CountedPattern, reading: Reading): string[] | undefined {
  const { pattern, place, each } = counted
  const { args, own, unknown } = reading
  const given = optionNames(pattern.program, args.slice(0, own))
  for (const option of pattern.options) if (!given.has(option)) return undefined
  const found = new Set<string>()
  let matched = false
  for (const words of readingsOf(reading, unknown.length > 0)) {
    const start = matchFrom(pattern.operands, words, place)
    if (start === undefined) continue
    matched = true
    for (const word of each ? words.slice(start) : words.slice(start, start + 1)) found.add(word)
  }
  return matched ? [...found] : undefined
}

/** The operands; if options are not known, also as they are when each of those takes the next word. */
function readingsOf({ words, args, options, own }: Reading, doubtful: boolean): (readonly string[])[] {
  if (!doubtful) return [words]
  const values = new Set(options.flatMap(({ index, value }) => (value === args[index] ? [index] : [])))
  const known = new Set(options.flatMap(({ index }) => [index - 1, index]))
  const other: string[] = []
  for (let at = 0; at < own; at++) {
    const arg = args[at] ?? ''
    if (values.has(at)) continue
    if (!isOption(arg)) other.push(arg)
    else if (!arg.includes('=') && !known.has(at)) at++
  }
  return [words, other]
}

/** Where the service stands, if the words are those of the pattern. */
function matchFrom(operands: readonly string[], words: readonly string[], place: number): number | undefined {
  const star = operands.indexOf('*')
  const skip = star === -1 || star > place ? [0] : words.map((_, index) => index)
  for (const extra of skip.slice(0, 100)) {
    const shifted = (at: number) => (star !== -1 && at > star ? at - 1 + extra : at)
    const meets = operands.every((word, at) => {
      if (at === star && at < place) return true
      if (at === place) return at === operands.length - 1 || words[shifted(at)] !== undefined
      return word === '*' || wordMeets(word, words[shifted(at)] ?? '')
    })
    if (meets) return shifted(place)
  }
  return undefined
}

interface Services {
  names: string[]
  scope: string | null
}

/** undefined: a name is missing that must be known. */
function nameServices(
  { pattern: { program, operands }, place }: CountedPattern,
  words: readonly string[],
  reading: Reading,
  call: Call,
  facts: CallFacts,
): Services | undefined {
  // systemctl reads patterns itself.
  if (words.some((word) => /[*?[\]{}$]/.test(word))) return undefined
  const namespace = () => optionValues(reading, '-n', '--namespace').at(-1) ?? null
  switch (program) {
    case 'docker':
      if (operands[0] === 'compose')
        return { names: words.length > 0 ? [...words] : [EVERY], scope: composeProject(reading, call, facts) }
      if (words.some((word) => CONTAINER_ID.test(word))) return undefined
      return { names: words.map((word) => word.replace(/^\/+/, '')), scope: null }
    case 'systemctl':
    case 'service':
      return { names: words.map((word) => word.replace(/\.service$/, '')), scope: null }
    case 'kubectl':
    case 'oc':
      return { names: operands[place - 1] === 'restart' ? resources(words) : [...words], scope: namespace() }
    case 'helm':
      return { names: [...words], scope: namespace() }
    case 'ansible-playbook':
      return { names: words.map(baseName), scope: null }
    default:
      return { names: [...words], scope: null }
  }
}

/** As `docker ps` prints it. Under its id, a container would have a second name. */
const CONTAINER_ID = /^(?=.*\d)[0-9a-f]{12,64}$/

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(deploy|deployments?)(\.|$)/i, 'deployment'],
  [/^(sts|statefulsets?)(\.|$)/i, 'statefulset'],
  [/^(ds|daemonsets?)(\.|$)/i, 'daemonset'],
]

/** `deploy/a sts/b`, `deployment a b`; a kind without a name is all of them. */
function resources([first = '', ...rest]: readonly string[]): string[] {
  const kindOf = (text: string) => KINDS.find(([form]) => form.test(text))?.[1] ?? text.toLowerCase()
  if (first.includes('/')) {
    return [first, ...rest].map((text) => {
      const [kind = '', ...name] = text.split('/')
      return `${kindOf(kind)}/${name.join('/')}`
    })
  }
  if (rest.length === 0) return [EVERY]
  return first.split(',').flatMap((kind) => rest.map((name) => `${kindOf(kind)}/${name}`))
}

/** As compose would call it: by option, else by the directory of its file. */
function composeProject(reading: Reading, { cwd }: Call, { home }: CallFacts): string | null {
  const [name] = optionValues(reading, '-p', '--project-name')
  if (name !== undefined) return name
  const [dir] = optionValues(reading, '--project-directory')
  const [file] = optionValues(reading, '-f', '--file')
  const place = dir ?? (file?.includes('/') ? file.slice(0, file.lastIndexOf('/')) || '/' : '.')
  return baseName(absolutePath(place, cwd, home)).toLowerCase() || null
}
