/** Which options of which programs take the next word as their value, and which options are the same one. */
import type { Field } from './command.ts'

/** Options before the sub-command that take a value; without them, `git -C x push` would look like `git x`. */
const TAKING_VALUE: Record<string, readonly string[]> = {
  git: [
    '-C',
    '-c',
    '--git-dir',
    '--work-tree',
    '--namespace',
    '--exec-path',
    '--super-prefix',
    '--config-env',
    '--attr-source',
  ],
  docker: [
    '-H',
    '--host',
    '-c',
    '--context',
    '-l',
    '--log-level',
    '--config',
    '--tlscacert',
    '--tlscert',
    '--tlskey',
  ],
  'docker compose': [
    '-f',
    '--file',
    '-p',
    '--project-name',
    '--profile',
    '--env-file',
    '--project-directory',
    '--parallel',
    '--ansi',
    '--progress',
  ],
  kubectl: [
    '-n',
    '--namespace',
    '--context',
    '--cluster',
    '--kubeconfig',
    '--user',
    '-s',
    '--server',
    '--token',
    '--as',
    '--request-timeout',
    '-v',
  ],
  helm: [
    '-n',
    '--namespace',
    '--kube-context',
    '--kubeconfig',
    '--registry-config',
    '--repository-cache',
    '--repository-config',
  ],
  systemctl: [
    '-H',
    '--host',
    '-M',
    '--machine',
    '-t',
    '--type',
    '-p',
    '--property',
    '-n',
    '--lines',
    '-o',
    '--output',
    '--state',
    '-s',
    '--signal',
    '--root',
  ],
  gh: ['-R', '--repo'],
  npm: ['--prefix', '-C', '-w', '--workspace'],
}

const VALUE_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(TAKING_VALUE))

/** By program, or by its sub-command: the same option under its other names; the first is the one that is compared. */
const SAME_OPTIONS: Record<string, readonly (readonly string[])[]> = {
  'git push': [
    ['--force', '-f'],
    ['--delete', '-d'],
    ['--all', '--branches'],
    ['--set-upstream', '-u'],
  ],
  'git clean': [['--force', '-f']],
  'git checkout': [['--force', '-f']],
  rm: [
    ['--recursive', '-r', '-R'],
    ['--force', '-f'],
  ],
  chmod: [['--recursive', '-R']],
  chown: [['--recursive', '-R']],
  cp: [['--recursive', '-r', '-R']],
  docker: [
    ['--force', '-f'],
    ['--all', '-a'],
    ['--volumes', '-v'],
    ['--detach', '-d'],
  ],
}

const NONE: readonly string[] = []
const COMPOSE_OPTIONS = [...(TAKING_VALUE.docker ?? []), ...(TAKING_VALUE['docker compose'] ?? [])]

export function valueOptions(program: string, args: readonly Field[]): readonly string[] {
  if (program === 'docker' && args.some(({ text }) => text === 'compose')) return COMPOSE_OPTIONS
  return VALUE_OPTIONS.get(program) ?? NONE
}

/** One option a word: `-rf` is `-r` and `-f`, the same option has one name, its value is cut off. */
export function optionsOf(program: string, words: readonly string[]): Set<string> {
  const options = new Set<string>()
  const same = sameOptions(program, words)
  for (const word of words) {
    if (word === '--') break
    if (!isOption(word)) continue
    const sign = word.indexOf('=')
    const name = sign === -1 ? word : word.slice(0, sign)
    options.add(same.get(name) ?? name)
    if (word.startsWith('--')) continue
    for (const letter of name.slice(1)) options.add(same.get(`-${letter}`) ?? `-${letter}`)
  }
  // `+main` forces that one reference.
  if (program === 'git' && words.includes('push') && words.some((word) => word.startsWith('+')))
    options.add('--force')
  return options
}

export const isOption = (word: string) => word.length > 1 && word.charCodeAt(0) === 0x2d

/** One letter is enough: a program refuses it if it may also be another option. */
export const abbreviates = (text: string, option: string) => text.length > 2 && option.startsWith(text)

/** Long options may be abbreviated: `--forc` is `--force`, if it is not written out as another one. */
export function hasOption(options: ReadonlySet<string>, wanted: string): boolean {
  if (options.has(wanted)) return true
  if (!wanted.startsWith('--')) return false
  for (const option of options) if (abbreviates(option, wanted)) return true
  return false
}

/** From each name of an option to the one that is compared. */
type SameOptions = ReadonlyMap<string, string>

const NO_OPTIONS: SameOptions = new Map()
const BY_PROGRAM = new Map<string, SameOptions>()
const BY_SUB_COMMAND = new Map<string, Map<string, SameOptions>>()
for (const [command, rows] of Object.entries(SAME_OPTIONS)) {
  const same = new Map(rows.flatMap((names) => names.map((name) => [name, names[0] ?? name] as const)))
  const [program = '', sub] = command.split(' ')
  if (sub === undefined) BY_PROGRAM.set(program, same)
  else {
    const subs = BY_SUB_COMMAND.get(program) ?? new Map<string, SameOptions>()
    BY_SUB_COMMAND.set(program, subs.set(sub, same))
  }
}

function sameOptions(program: string, words: readonly string[]): SameOptions {
  const subs = BY_SUB_COMMAND.get(program)
  if (subs) {
    const sub = words.find((word) => !isOption(word))
    for (const word of sub === undefined ? words : [sub, ...words]) {
      const found = subs.get(word)
      if (found) return found
    }
  }
  return BY_PROGRAM.get(program) ?? NO_OPTIONS
}

/** Every word, as far as it is known. */
export function textsOf(fields: readonly Field[]): string[] {
  return fields.map(({ text }) => text)
}
