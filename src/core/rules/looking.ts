/**
 * Which calls of the broker's programs only look. They are allowed at every tier, also in a dry run, unless a rule forbids
 * them. In doubt a call does not only look: if options are given that are not known.
 */
import { hasOption, type Reading, readArguments, uncertainOption } from './arguments.ts'
import type { CallFacts } from './call.ts'
import { gitLooks } from './git-remote.ts'
import { canonical } from './pattern.ts'

const words = (text: string) => text.split(' ')

/** By program: sub-commands, or groups with their sub-commands. */
const LOOKING: Record<string, Record<string, readonly string[] | true>> = {
  docker: {
    ...all('ps logs inspect stats top version info images port diff events search history'),
    container: words('ls list ps inspect logs top stats port diff'),
    image: words('ls list inspect history'),
    network: words('ls list inspect'),
    volume: words('ls list inspect'),
    context: words('ls list inspect show'),
    node: words('ls list ps inspect'),
    service: words('ls list ps logs inspect'),
    stack: words('ls list ps services'),
    plugin: words('ls list inspect'),
    secret: words('ls list inspect'),
    config: words('ls list inspect'),
    system: words('df info events'),
    buildx: words('ls du version'),
    manifest: words('inspect'),
    pod: words('ps ls list inspect logs top stats'),
    machine: words('ls list inspect info'),
    compose: words('ps logs ls images top version port events stats volumes config convert'),
  },
  kubectl: {
    ...all('get describe logs top version explain api-resources api-versions events wait'),
    'cluster-info': [''],
    config: words('view get-contexts get-clusters get-users current-context'),
    rollout: words('status history'),
    auth: words('can-i whoami'),
  },
  helm: all('list ls status history get version env'),
  systemctl: all(
    'status show cat help is-active is-enabled is-failed is-system-running list-units list-sockets list-timers list-jobs list-unit-files list-dependencies list-machines list-automounts list-paths get-default',
  ),
  gh: {
    pr: words('view list ls status checks diff'),
    issue: words('view list ls status'),
    run: words('view list ls watch'),
    repo: words('view list ls'),
    release: words('view list ls'),
    workflow: words('view list ls'),
    gist: words('view list ls'),
    label: words('list ls'),
    cache: words('list ls'),
    secret: words('list ls'),
    variable: words('list ls get'),
    ruleset: words('view list check'),
    project: words('view list item-list field-list'),
    search: words('code commits issues prs repos'),
    auth: words('status'),
    status: true,
    api: true,
  },
  tea: {
    ...all('whoami'),
    ...groups(
      'pr pull pulls issue issues release releases repo repos branch branches notifications labels milestones login logins',
      'list ls',
    ),
  },
  terraform: { version: true },
}

function all(list: string): Record<string, true> {
  return Object.fromEntries(words(list).map((name) => [name, true]))
}

function groups(list: string, subs: string): Record<string, readonly string[]> {
  return Object.fromEntries(words(list).map((name) => [name, words(subs)]))
}

/** Options with which a sub-command that looks does more, or does not end. */
const MORE: ReadonlyMap<string, RegExp> = new Map([
  ['gh api', /^(-X|--method|-f|-F|--field|--raw-field|--input)$/],
  ['gh', /^(-w|--web|-e|--editor|--recover)$/],
  ['systemctl', /^(-H|--host|-M|--machine)$/],
])

/** A command in a container on another host is as far as this goes. */
const MOST_NESTED = 2

export function looksOnly(reading: Reading, facts: Pick<CallFacts, 'innerLooks'>, depth = 0): boolean {
  const { program, args, words: given, unknown, options } = reading
  if (args.length === 0) return program === 'docker' || program === 'kubectl' || program === 'systemctl'
  if (args.length === 1 && /^(--version|--help|-version|-help)$/.test(args[0] ?? '')) return true
  if (reading.inner || isExec(reading)) return innerLooks(reading, facts, depth)
  if (program === 'git') return gitLooks(reading)
  if (program === 'service')
    return args.length === 1
      ? args[0] === '--status-all'
      : args.length === 2 && args[1] === 'status' && args[0]?.[0] !== '-'
  const [sub = '', part = ''] = given
  if (program === 'systemctl' && sub === '' && unknown.length === 0) return !moreThanLooks(reading)
  const table = Object.hasOwn(LOOKING, program) ? LOOKING[program] : undefined
  const entry = table && Object.hasOwn(table, sub) ? table[sub] : undefined
  if (entry === undefined || (entry !== true && !entry.includes(part))) return false
  if (moreThanLooks(reading)) return false
  // No option of docker behind these sub-commands writes or starts anything, but for `compose config --output`.
  if (uncertainOption(reading, entry === true ? 1 : 2) !== undefined) return false
  if (program === 'docker') return unknown.length === 0 || !/^(config|convert)$/.test(part)
  if (program === 'gh' && sub === 'api' && given[1] === 'graphql') return false
  return unknown.length === 0 && !options.some(({ name }) => name === '--raw' && sub === 'config')
}

function moreThanLooks({ program, words: given, options }: Reading): boolean {
  const forms = [MORE.get(program), MORE.get(`${program} ${given[0]}`)]
  return options.some(({ name }) => forms.some((form) => form?.test(name)))
}

/** Starts something in a container that runs, or on another host. */
function isExec({ program, words: [first = '', second = ''] }: Reading): boolean {
  if (program === 'docker' && /^(container|compose)$/.test(first)) return second === 'exec'
  return program === 'ssh' || ((program === 'docker' || program === 'kubectl') && first === 'exec')
}

/** What a call starts elsewhere, if that is a plain list of words. */
function innerArguments({ program, inner }: Reading): readonly string[] | undefined {
  if (!inner || program !== 'ssh') return inner
  // The other host gives the words, joined, to a shell.
  const text = inner.join(' ')
  return /^[\w@%+=:,./~ -]*$/.test(text) ? text.split(' ').filter(Boolean) : undefined
}

/** `git fetch` by ssh: the other host sends what it has. */
const isGitFetch = ({ program, inner = [], unknown }: Reading) =>
  program === 'ssh' && unknown.length === 0 && /^git-upload-pack '[\w@%+=:,./~-]+'$/.test(inner.join(' '))

function innerLooks(reading: Reading, facts: Pick<CallFacts, 'innerLooks'>, depth: number): boolean {
  const { program, unknown } = reading
  if (isGitFetch(reading)) return true
  const argv = innerArguments(reading)
  if (depth > MOST_NESTED || !isExec(reading) || unknown.length > 0 || !argv || argv.length === 0)
    return false
  if (
    hasOption(reading, '--env', '-e', '--env-file') &&
    program === 'docker' &&
    !harmlessEnvironment(reading)
  )
    return false
  if (program === 'ssh' && hasOption(reading, '-L', '-R', '-D', '-f', '-N', '-O', '-M')) return false
  const [name = '', ...rest] = argv
  // Elsewhere it may be anything that bears the name.
  if (!/^(\/(usr\/(local\/)?)?s?bin\/)?[\w.+-]+$/.test(name)) return false
  const { program: inside, args } = canonical(name, rest)
  return looksOnly(readArguments(inside, args), facts, depth + 1) || facts.innerLooks?.(argv) === true
}

/** A variable that only changes how something is shown. */
const harmlessEnvironment = ({ options }: Reading) =>
  options.every(
    ({ name, value = '' }) =>
      !/^(-e|--env|--env-file)$/.test(name) ||
      /^(TERM|LANG|LC_\w+|TZ|COLUMNS|LINES|NO_COLOR)(=|$)/.test(value),
  )
