/**
 * What no tier may do with containers: reach what is hidden, take the host's namespaces, devices or rights. Options are
 * searched in all arguments of docker itself; where an option is not known, also in the command behind the image, because
 * it is not certain then where that begins.
 */
import { isOption, type Reading } from './arguments.ts'
import { type CallFacts, holdsHidden, type Refusal } from './call.ts'
import { driverPaths, longMount, mountProblem, shortMount, splitOnce } from './mounts.ts'

type Problem = (value: string, cwd: string, facts: CallFacts) => [rule: string, why: string] | undefined

const hostNamespace =
  (name: string): Problem =>
  (value) =>
    /^(host|name=host|ns:.*)(,|$)/.test(value)
      ? ['host-namespace', `it takes the ${name} of the host`]
      : undefined
const always =
  (rule: string, why: string): Problem =>
  (value) =>
    /^(false|0)$/i.test(value) ? undefined : [rule, why]
const mount: Problem = (value, cwd, facts) => {
  for (const one of longMount(value)) {
    const why = mountProblem(one, cwd, facts)
    if (why) return ['mount', why]
  }
  return undefined
}

const HOST_NETWORK = hostNamespace('network')
const DEVICES = always('device', 'it gives a device of the host to a container')

/** By option, what is wrong with its value. */
const OPTIONS: ReadonlyMap<string, Problem> = new Map<string, Problem>([
  ['--privileged', always('privileged', 'a privileged container has all rights on the host')],
  ['--use-api-socket', always('mount', 'it gives the socket of docker to a container')],
  ['--network', HOST_NETWORK],
  ['--net', HOST_NETWORK],
  ['--network-add', HOST_NETWORK],
  ['--pid', hostNamespace('processes')],
  ['--ipc', hostNamespace('shared memory')],
  ['--uts', hostNamespace('name')],
  ['--userns', hostNamespace('users')],
  ['--cgroupns', hostNamespace('control groups')],
  ['--device', DEVICES],
  ['--device-cgroup-rule', DEVICES],
  ['--cap-add', always('capabilities', 'it adds rights to a container')],
  ['--security-opt', (value) => securityProblem(value)],
  ['--rootfs', always('mount', 'it runs a folder of the host as a container')],
  ['--hooks-dir', always('options', '--hooks-dir names programs that are started')],
  ['--runtime', always('options', '--runtime names a program that is started')],
  [
    '--volume',
    (value, cwd, facts) => {
      const one = shortMount(value)
      const why = one && mountProblem(one, cwd, facts)
      return why ? ['mount', why] : undefined
    },
  ],
  ['--mount', mount],
  ['--mount-add', mount],
  ['--build-context', (value, cwd, facts) => hiddenContext(value, cwd, facts)],
  ['--allow', always('privileged', '--allow gives a build rights on the host')],
  ['--ssh', always('credentials', '--ssh gives a build the ssh agent')],
])

export function securityProblem(value: string): [string, string] | undefined {
  return /^no-new-privileges([:=]true)?$/.test(value)
    ? undefined
    : ['security-opt', `the security option ${value} may take away a protection`]
}

const hiddenContext: Problem = (value, cwd, facts) => {
  const [, path] = splitOnce(value)
  return holdsHidden(path, cwd, facts) ? ['hidden', `${path} is hidden, or something in it`] : undefined
}

/** Sub-commands that make a container, or start something in one. */
const CREATING =
  /^((container )?(run|create|exec)|compose (run|exec|build|create|up)|service (create|update)|pod (create|clone)|container (clone|restore)|build|image build|buildx (build|create)|builder build)( |$)/

const NEVER_SUB: readonly (readonly [RegExp, rule: string, why: string])[] = [
  [
    /^context (create|update|import|use|export|rm)( |$)/,
    'settings',
    'it changes or shows to which docker later commands go',
  ],
  [
    /^plugin (install|enable|set|create|upgrade)( |$)/,
    'privileged',
    'a plugin of docker has rights on the host',
  ],
  [
    /^buildx (?!(build|ls|du|version|inspect|prune|stop|rm)( |$))/,
    'options',
    'what it builds, or with which rights, is not checked; use docker build',
  ],
  [/^compose (alpha|bridge)( |$)/, 'options', 'what it does is not checked'],
  [/^unshare( |$)/, 'options', 'it starts a program on this host'],
  [
    /^(kube|play|quadlet|generate|mount|image mount|container runlabel|artifact extract|volume export|system (service|connection|migrate|renumber|dial-stdio))( |$)/,
    'options',
    'what it starts is not checked',
  ],
]

/** Other sub-commands may be plugins, which do anything. */
const KNOWN = new Set(
  'attach build builder buildx commit compose config container context cp create diff events exec export history image images import info inspect kill load login logout logs manifest network node pause plugin port ps pull push rename restart rm rmi run save search secret service stack start stats stop swarm system tag top unpause update version volume wait pod init untag healthcheck machine auto-update help'.split(
    ' ',
  ),
)

/** Options that lead to another docker, with the login of the user, or name programs that are started. */
const ELSEWHERE =
  /^--(host|url|identity|connection|conmon|hooks-dir|root|runroot|module|network-cmd-path|network-config-dir|cdi-spec-dir|cni-\w+|address|hosts-dir|data-root)$/

export function containerRefusal(
  reading: Reading,
  shown: string,
  cwd: string,
  facts: CallFacts,
): Refusal | undefined {
  const { words, options, unknown, args, own } = reading
  const never = (rule: string, why: string): Refusal => ({
    reason: `\`${shown}\` may never run, at no tier: ${why}. Do without it, or ask a person.`,
    rule,
  })
  const ownDepth = words[0] === 'compose' ? 1 : 0
  const elsewhere =
    options.find(({ name, words: before }) => before <= ownDepth && /^(-H|--host)$/.test(name))?.name ??
    unknown.find(({ text, words: before }) => before <= ownDepth || ELSEWHERE.test(text.replace(/=.*$/s, '')))
      ?.text
  if (elsewhere !== undefined)
    return {
      reason: `\`${shown}\` may never run: ${elsewhere} may lead to another docker, or name a program that is started. Leave it out; --context names a context that exists.`,
      rule: 'options',
    }
  const sub = words.slice(0, 3).join(' ')
  for (const [form, rule, why] of NEVER_SUB) if (form.test(sub)) return never(rule, why)
  if (words[0] !== undefined && !KNOWN.has(words[0]))
    return never('options', `${words[0]} is not a sub-command of which it is known what it does`)
  if (/^volume create( |$)/.test(sub)) {
    const given = options.filter(({ name }) => /^(-o|--opt)$/.test(name))
    for (const source of given.flatMap(({ value = '' }) => driverPaths(...splitOnce(value)))) {
      const why = mountProblem({ source, readOnly: false }, cwd, facts)
      if (why) return never('mount', why)
    }
  }
  if (
    /^push /.test(sub) &&
    words.some((word) => /^(dir|oci|oci-archive|docker-archive|ostree|sif):/.test(word))
  )
    return never('output', 'it would write files with rights that you do not have')
  if (/^(container )?cp( |$)|^compose cp( |$)/.test(sub)) return copyRefusal(words, never, shown, cwd, facts)
  if (/^(image )?build( |$)|^(buildx|builder) build( |$)/.test(sub)) {
    const context = words.slice(1).find((word) => holdsHidden(word, cwd, facts))
    if (context !== undefined) return never('hidden', `${context} is hidden, or something in it`)
  }
  if (!CREATING.test(sub) && !CREATING.test(words.slice(0, 2).join(' '))) return undefined
  for (const [at, arg] of args.slice(0, own).entries()) {
    const found = dangerIn(arg, args[at + 1] ?? '', cwd, facts)
    if (found) return never(...found)
  }
  return undefined
}

/** `-v` may be joined with other letters, and its value with it. */
function dangerIn(arg: string, next: string, cwd: string, facts: CallFacts) {
  if (!isOption(arg)) return undefined
  const sign = arg.indexOf('=')
  const name = sign === -1 ? arg : arg.slice(0, sign)
  const problem = OPTIONS.get(name)
  if (problem) {
    const isFlag = name === '--privileged' || name === '--use-api-socket'
    return problem(sign === -1 ? (isFlag ? '' : next) : arg.slice(sign + 1), cwd, facts)
  }
  const [, attached] = /^-[a-zA-Z]*?v=?(.*)$/s.exec(arg) ?? []
  if (attached === undefined || arg.startsWith('--')) return undefined
  return OPTIONS.get('--volume')?.(attached || next, cwd, facts)
}

/** A copy to the host would be written with the rights of the user, wherever links lead. */
function copyRefusal(
  words: readonly string[],
  never: (rule: string, why: string) => Refusal,
  shown: string,
  cwd: string,
  facts: CallFacts,
): Refusal | undefined {
  const [source = '', target = ''] = words.slice(-2)
  const isLocal = (text: string) => text !== '-' && (/^[/.~]/.test(text) || !text.includes(':'))
  if (isLocal(source) && holdsHidden(source, cwd, facts))
    return never('hidden', `${source} is hidden, or something in it`)
  if (!isLocal(target)) return undefined
  return {
    reason: `\`${shown}\` may never run: it would write ${target} with rights that you do not have. Copy to standard output and unpack it yourself: docker cp ${source} - | tar -x.`,
    rule: 'output',
  }
}
