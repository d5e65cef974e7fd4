/** Which paths of the host a container may be given. */
import { type CallFacts, placesOf } from './call.ts'

export interface Mount {
  source: string
  readOnly: boolean
}

/** Where the system keeps what it runs and what it is told to run. Writable, one of these is the whole machine. */
const SYSTEM =
  /^\/(etc|usr|bin|sbin|lib\w*|boot|root|home|opt|var|run|dev|sys|proc|srv|var\/(run|spool|lib)|usr\/.*|etc\/.*|bin\/.*|sbin\/.*|lib\w*\/.*|boot\/.*|var\/run\/.*|var\/spool\/.*|run\/.*|dev\/.*|sys\/.*|proc\/.*|var\/lib\/(docker|containerd|containers|kubelet)(\/.*)?)$/
/** Even to be read: other processes, their environment and their files. */
const PROCESSES = /^\/(proc|dev)(\/|$)/
/** Harmless files that containers are often given. */
const COMMON =
  /^\/(dev\/(null|zero|shm|urandom|random)|etc\/(localtime|timezone|hosts|resolv\.conf|machine-id)|usr\/share\/zoneinfo(\/.*)?)$/

/** Why the mount is refused; undefined: it is not. */
export function mountProblem({ source, readOnly }: Mount, cwd: string, facts: CallFacts): string | undefined {
  if (/[$*?[]/.test(source)) return `it mounts ${source}, and what that is cannot be known`
  // A name is a volume of docker, not a path.
  if (!/^[~.]|\//.test(source)) return undefined
  for (const place of placesOf(source, cwd, facts)) {
    const shown = place === source ? place : `${source} (${place})`
    if (place === '/') return 'it mounts the whole file system'
    if (facts.isHidden(place)) return `it mounts ${shown}, which is hidden`
    if (facts.containsHidden(place)) return `it mounts ${shown}, in which something is hidden`
    if (/\.sock(et)?$/.test(place)) return `it mounts the socket ${shown}`
    if (COMMON.test(place) && (readOnly || place.startsWith('/dev/'))) continue
    if (PROCESSES.test(place)) return `it mounts ${shown}, which shows the processes and devices of the host`
    if (readOnly) continue
    if (SYSTEM.test(place) || place === facts.home)
      return `it mounts ${shown} for writing, which belongs to the system`
    if (facts.isProtected(place)) return `it mounts ${shown} for writing, which is protected`
  }
  return undefined
}

/** `source:target:options` of `-v`; a target alone is a volume without a name. */
export function shortMount(text: string): Mount | undefined {
  const [source = '', target, options = ''] = text.split(':')
  if (target === undefined) return undefined
  return { source, readOnly: /(^|,)(ro|readonly)(,|$)/.test(options) }
}

/** `type=bind,source=…` of `--mount`. A volume may be made of a path too, by the options of its driver. */
export function longMount(text: string): Mount[] {
  const fields = splitFields(text)
  const isFalse = (value: string) => /^(false|0)$/i.test(value)
  let readOnly = false
  const sources: string[] = []
  for (const field of fields) {
    const [name = '', ...rest] = field.split('=')
    const value = rest.join('=')
    if (/^(readonly|ro)$/i.test(name)) readOnly = !isFalse(value)
    else if (/^(source|src)$/i.test(name)) sources.push(value)
    else if (/^volume-opt$/i.test(name)) sources.push(...driverPaths(...splitOnce(value)))
  }
  return sources.map((source) => ({ source, readOnly }))
}

/** The paths of the host in an option of a volume's driver: `device=/path`, `o=lowerdir=/path`. */
export function driverPaths(name: string, value: string): string[] {
  if (name === 'device') return [value]
  return name === 'o' ? value.split(/[,=:]/).filter((part) => /^\/|\$/.test(part)) : []
}

export function splitOnce(text: string): [string, string] {
  const sign = text.indexOf('=')
  return sign === -1 ? [text, ''] : [text.slice(0, sign), text.slice(sign + 1)]
}

/** At commas that are not in quotes. */
function splitFields(text: string): string[] {
  const outside = text.split('"')
  return outside
    .map((part, index) => (index % 2 === 0 ? part.replaceAll(',', '\0') : part))
    .join('')
    .split('\0')
}
