/**
 * A compose file, read to find what no tier may do: privileged services, namespaces and devices of the host, mounts of
 * hidden paths, and parts that are not in the file itself. Keys of a service that are not listed here are refused.
 */
import { parseDocument } from 'yaml'
import { type CallFacts, holdsHidden } from './call.ts'
import { securityProblem } from './containers.ts'
import { driverPaths, type Mount, mountProblem, shortMount } from './mounts.ts'

type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown, place: Place) => string | undefined

interface Place {
  /** Relative paths start here. */
  dir: string
  /** The call only looks: what compose reads matters, what a service would be given does not. */
  looks: boolean
  facts: CallFacts
}

/** Keys by which compose reads other files, or starts a program. */
const READ = new Set(['env_file', 'label_file', 'extends', 'provider'])

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : value == null ? [] : [value])
const entriesOf = (value: unknown): unknown[] => (isFields(value) ? Object.values(value) : listOf(value))
const isOn = (value: unknown) => value !== false && value !== 'false' && value != null

/** Any text below the value that compose would replace, so that it is not known. */
const isOpen = (value: unknown) => typeof value === 'string' && value.replaceAll('$$', '').includes('$')

const notHost =
  (what: string): Check =>
  (value) =>
    value === 'host' || isOpen(value) ? `takes the ${what} of the host` : undefined
const notOn =
  (what: string): Check =>
  (value) =>
    isOn(value) ? what : undefined
const notHidden: Check = (value, { dir, facts }) => {
  for (const entry of entriesOf(value)) {
    const path = isFields(entry) ? entry.path : entry
    if (typeof path !== 'string') continue
    if (isOpen(path)) return `names ${path}, and what that is cannot be known`
    if (holdsHidden(path, dir, facts))
      return `names ${path}, which is hidden, or in which something is hidden`
  }
  return undefined
}

const volumes: Check = (value, { dir, facts }) => {
  for (const entry of listOf(value)) {
    const mounts =
      typeof entry === 'string' ? [shortMount(entry)] : isFields(entry) ? [longVolume(entry)] : []
    for (const mount of mounts) {
      const why = mount && mountProblem(mount, dir, facts)
      if (why) return why.replace(/^it /, '')
    }
  }
  return undefined
}

function longVolume({ source, read_only: readOnly, type }: Fields): Mount | undefined {
  if (typeof source !== 'string') return undefined
  // A bind mount is a path even if it looks like a name.
  const path = type === 'bind' && !/^[/~.$]/.test(source) ? `./${source}` : source
  return { source: path, readOnly: readOnly === true }
}

const build: Check = (value, place) => {
  if (!isFields(value)) return notHidden(value, place)
  const {
    context,
    network,
    privileged,
    entitlements,
    ssh,
    additional_contexts: others,
    secrets: _,
    ...rest
  } = value
  if (isOn(privileged) || isOn(entitlements)) return 'has a build with rights on the host'
  if (isOn(ssh)) return 'has a build that uses the ssh agent'
  if (network === 'host' || isOpen(network)) return 'has a build in the network of the host'
  const plain =
    'dockerfile dockerfile_inline args labels target cache_from cache_to no_cache pull shm_size tags platforms isolation extra_hosts ulimits'
  const unknown = Object.keys(rest).find((key) => !plain.split(' ').includes(key))
  if (unknown !== undefined) return `has a build with ${unknown}, which is not checked`
  if (listOf(value.cache_to).some((text) => /type=local/.test(String(text))))
    return 'writes a cache on the host'
  const file =
    typeof value.dockerfile === 'string' ? `${String(context ?? '.')}/${value.dockerfile}` : undefined
  return notHidden(context, place) ?? notHidden(others, place) ?? notHidden(file, place)
}

const develop: Check = (value, place) => (isFields(value) ? notHidden(listOf(value.watch), place) : undefined)

const CHECKED: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['privileged', notOn('is privileged')],
  ['network_mode', notHost('network')],
  ['pid', notHost('processes')],
  ['ipc', notHost('shared memory')],
  ['uts', notHost('name')],
  ['userns_mode', notHost('users')],
  ['cgroup', notHost('control groups')],
  ['devices', notOn('has devices of the host')],
  ['device_cgroup_rules', notOn('has devices of the host')],
  ['cap_add', notOn('adds rights (cap_add)')],
  ['use_api_socket', notOn('has the socket of docker')],
  ['provider', notOn('has a provider, which is a program of this host')],
  [
    'security_opt',
    (value) =>
      listOf(value)
        .map((one) => securityProblem(String(one))?.[1])
        .find(Boolean),
  ],
  ['volumes', volumes],
  ['env_file', notHidden],
  ['label_file', notHidden],
  ['build', build],
  ['develop', develop],
  [
    'extends',
    (value) =>
      isFields(value) && value.file !== undefined ? 'extends a service of another file' : undefined,
  ],
  [
    'post_start',
    (value) =>
      listOf(value).some((hook) => isFields(hook) && isOn(hook.privileged)) ? 'is privileged' : undefined,
  ],
])

const PLAIN = new Set(
  'annotations attach blkio_config command configs container_name cpu_count cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset depends_on deploy dns dns_opt dns_search domainname entrypoint environment expose external_links extra_hosts gpus group_add healthcheck hostname image init isolation labels links logging mac_address mem_limit mem_reservation mem_swappiness memswap_limit networks oom_kill_disable oom_score_adj pids_limit platform ports pre_stop profiles pull_policy read_only restart scale secrets shm_size stdin_open stop_grace_period stop_signal storage_opt sysctls tmpfs tty ulimits user volumes_from working_dir cap_drop cgroup_parent'.split(
    ' ',
  ),
)

/** What is wrong with the file; undefined: nothing that no tier may do. */
export function composeProblem(text: string, place: Place): string | undefined {
  const document = parseDocument(text, { merge: true, logLevel: 'error' })
  if (document.errors.length > 0) return 'it cannot be read as YAML'
  let content: unknown
  try {
    content = document.toJS({ maxAliasCount: 100 })
  } catch {
    return 'it has too many aliases'
  }
  if (!isFields(content)) return 'it is not a mapping'
  if (content.include !== undefined) return 'it includes other files, which are not checked'
  for (const [name, service] of Object.entries(isFields(content.services) ? content.services : {})) {
    const why = serviceProblem(service, place)
    if (why) return `its service ${name} ${why}`
  }
  return sharedProblem(content, place)
}

function serviceProblem(service: unknown, place: Place): string | undefined {
  if (!isFields(service)) return 'cannot be understood'
  for (const [key, value] of Object.entries(service)) {
    if (place.looks && !READ.has(key)) continue
    const check = CHECKED.get(key)
    if (!check && !PLAIN.has(key) && !key.startsWith('x-')) return `has ${key}, which is not checked`
    const why = check?.(value, place)
    if (why) return why
  }
  return undefined
}

/** Volumes, networks, secrets and configs that services share. */
function sharedProblem(content: Fields, place: Place): string | undefined {
  return (place.looks ? undefined : hostProblem(content, place)) ?? sharedFileProblem(content, place)
}

function hostProblem(content: Fields, place: Place): string | undefined {
  for (const [name, volume] of Object.entries(isFields(content.volumes) ? content.volumes : {})) {
    const options = isFields(volume) && isFields(volume.driver_opts) ? volume.driver_opts : {}
    const sources = Object.entries(options).flatMap(([key, value]) => driverPaths(key, String(value)))
    const why = sources
      .map((source) => mountProblem({ source, readOnly: false }, place.dir, place.facts))
      .find((problem) => problem !== undefined)
    if (why) return `its volume ${name} is refused: ${why}`
  }
  for (const [name, network] of Object.entries(isFields(content.networks) ? content.networks : {})) {
    if (
      name === 'host' ||
      (isFields(network) &&
        (network.name === 'host' ||
          network.driver === 'host' ||
          isOpen(network.name) ||
          isOpen(network.driver)))
    )
      return `its network ${name} may be that of the host`
  }
  return undefined
}

function sharedFileProblem(content: Fields, place: Place): string | undefined {
  for (const kind of ['secrets', 'configs'] as const) {
    for (const [name, entry] of Object.entries(isFields(content[kind]) ? content[kind] : {})) {
      const why = isFields(entry) && entry.file !== undefined ? notHidden(entry.file, place) : undefined
      if (why) return `${name} in its ${kind} ${why}`
    }
  }
  return undefined
}
