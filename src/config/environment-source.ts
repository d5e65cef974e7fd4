/** Settings from environment variables. An empty variable counts as not set. */
import type { Environment } from './environment.ts'
import { showPath } from './problem.ts'
import type { Source } from './source.ts'

// A value that a reader does not recognise stays text, and the schema reports what it expected.
const asText = (text: string) => text
const asNumber = (text: string) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text)
const asFlag = (text: string) =>
  /^(1|true|yes|on)$/i.test(text) ? true : /^(0|false|no|off)$/i.test(text) ? false : text

/** Environment variables and the settings that they set. */
export const VARIABLES = [
  { name: 'REPRISE_HOST', path: ['server', 'host'], read: asText },
  { name: 'REPRISE_PORT', path: ['server', 'port'], read: asNumber },
  { name: 'REPRISE_DATABASE_URL', path: ['store', 'url'], read: asText },
  { name: 'REPRISE_RESUME_CONTEXT_THRESHOLD', path: ['resume', 'contextThreshold'], read: asNumber },
  { name: 'REPRISE_RESUME_MAX_AGE', path: ['resume', 'maxAge'], read: asText },
  { name: 'REPRISE_MAX_SESSION_DURATION', path: ['run', 'maxDuration'], read: asText },
  { name: 'REPRISE_OUTAGE_LIMIT', path: ['outage', 'limit'], read: asText },
  { name: 'REPRISE_SANDBOX_KIND', path: ['run', 'sandboxKind'], read: asText },
  { name: 'REPRISE_DRY_RUN', path: ['dryRun'], read: asFlag },
  { name: 'REPRISE_MAX_TIER', path: ['maxTier'], read: asNumber },
] as const

export function readEnvironmentSource(env: Environment): Source {
  const value: Record<string, unknown> = {}
  const variables = new Map<string, string>()
  for (const { name, path, read } of VARIABLES) {
    const text = env[name]?.trim()
    if (!text) continue
    const [section, key] = path
    value[section] = key ? { ...(value[section] as object | undefined), [key]: read(text) } : read(text)
    variables.set(showPath(path), name)
  }
  return {
    name: 'environment',
    value,
    locate: (path) => ({ source: variables.get(showPath(path)) ?? 'environment' }),
  }
}
