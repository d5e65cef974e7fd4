/** The name that a service is counted under, whatever form it was given in. */
import { baseName, type Field, type SimpleCommand } from './command.ts'
import { EVERY, type ServicePattern } from './cooldown.ts'
import { isOption } from './options.ts'

export interface Services {
  names: string[]
  scope: string | null
}

/** `undefined`: a name is missing that must be known. Expects the arguments of the program itself. */
export function nameServices(
  { pattern: { program, operands }, place }: ServicePattern,
  fields: readonly Field[],
  args: readonly Field[],
  command: SimpleCommand,
): Services | undefined {
  if (fields.some(isUncertain)) return undefined
  const sub = operands.slice(0, place)
  const texts = fields.map(({ text }) => text)
  switch (program) {
    case 'docker':
    case 'podman': {
      if (sub[0] === 'compose')
        return { names: texts.length > 0 ? texts : [EVERY], scope: composeProject(args, command) }
      if (texts.some((text) => CONTAINER_ID.test(text))) return undefined
      return { names: texts.map((text) => text.replace(/^\/+/, '')), scope: null }
    }
    case 'systemctl':
    case 'service':
      return { names: texts.map((text) => text.replace(/\.service$/, '')), scope: null }
    case 'kubectl':
    case 'oc':
      return {
        names: sub.at(-1) === 'restart' ? resources(texts) : texts,
        scope: optionValue(args, '-n', '--namespace') ?? null,
      }
    case 'helm':
      return { names: texts, scope: optionValue(args, '-n', '--namespace') ?? null }
    case 'ansible-playbook':
      return { names: texts.map(baseName), scope: null }
    default:
      return { names: texts, scope: null }
  }
}

/** Also in quotes: systemctl reads patterns itself. */
function isUncertain({ text, unknown, glob }: Field): boolean {
  return !!unknown || !!glob || /[*?[\]{}]/.test(text)
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

/** As compose would call it: by option, by variable, else by the directory of its file. */
function composeProject(args: readonly Field[], { assigned, cwds }: SimpleCommand): string | null {
  const variable = assigned.find((text) => text.startsWith('COMPOSE_PROJECT_NAME='))?.slice(21)
  const option = optionValue(args, '-p', '--project-name')
  const name = option === undefined ? variable : option
  if (name !== undefined) return name
  const dir = optionValue(args, '', '--project-directory')
  const file = optionValue(args, '-f', '--file')
  if (dir === null || file === null) return null
  const place = dir ?? (file?.includes('/') ? file.slice(0, file.lastIndexOf('/')) || '/' : '.')
  const from = place.startsWith('/') ? '/' : cwds.length === 1 ? cwds[0] : undefined
  if (from === undefined) return null
  const kept: string[] = []
  for (const part of `${from}/${place}`.split('/')) {
    if (part === '..') kept.pop()
    else if (part !== '' && part !== '.') kept.push(part)
  }
  return kept.at(-1)?.toLowerCase() ?? null
}

/** `-n x`, `-nx`, `--namespace x`, `--namespace=x`; null: it is there and cannot be known. */
function optionValue(args: readonly Field[], short: string, long: string): string | null | undefined {
  for (const [index, { text, unknown }] of args.entries()) {
    if (!isOption(text)) continue
    const next = args[index + 1]
    if (text === long || text === short) return next && !next.unknown ? next.text : null
    if (text.startsWith(`${long}=`)) return unknown ? null : text.slice(long.length + 1)
    if (short && text.startsWith(short) && !text.startsWith('--'))
      return unknown ? null : text.slice(2).replace(/^=/, '')
  }
  return undefined
}
