/**
 * The environment that an agent gets: what any program needs, proxies, and its vendor's own variables. Nothing else of
 * the daemon's environment reaches it unless the configuration says so.
 */
import type { AgentAdapter, Env } from './adapter.ts'

const PASSED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'TZ',
  'LANG',
  'LANGUAGE',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'SSH_AUTH_SOCK',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]

export function buildEnvironment(
  adapter: AgentAdapter,
  machine: Readonly<Record<string, string | undefined>>,
  configured: Env,
): Env {
  const own = (name: string) => adapter.envPrefixes.some((prefix) => name.startsWith(prefix))
  const env = pick(
    machine,
    (name) => !adapter.envStripped.includes(name) && (isForEveryProgram(name) || own(name)),
  )
  return { ...env, ...adapter.envFixed, ...configured }
}

/** The variables that any program needs, for programs that are not agents. */
export function commonEnvironment(machine: Readonly<Record<string, string | undefined>>): Env {
  return pick(machine, isForEveryProgram)
}

const isForEveryProgram = (name: string) => PASSED.includes(name) || name.startsWith('LC_')

function pick(
  machine: Readonly<Record<string, string | undefined>>,
  passes: (name: string) => boolean,
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(machine)) {
    if (value !== undefined && passes(name)) env[name] = value
  }
  return env
}
