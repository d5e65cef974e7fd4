/** Creates the redactor with all known secrets: those of the configuration, and those in the environment of agents. */
import type { ConfiguredAgent } from '../agents/registry.ts'
import type { Config } from '../config/schema.ts'
import { RepriseError } from '../contract/errors.ts'
import { MIN_VALUE_CHARS, Redactor } from '../core/redact/redactor.ts'
import type { MachineEnv } from './agents.ts'

export interface KnownSecrets {
  config: Config
  env: MachineEnv
  /** The configured agents. */
  agents: readonly ConfiguredAgent[]
  /** The daemon's API token. */
  token: string
}

export function createRedactor({ config, env, agents, token }: KnownSecrets): {
  redactor: Redactor
  notices: string[]
} {
  const { builtIn, patterns, values } = config.redact
  const read = values.map((value) => readValue(value, env))
  const missing = read.flatMap((value) => ('unset' in value ? [value.unset] : []))
  const secrets = [
    ...read.flatMap((value) => ('secret' in value ? [value.secret] : [])),
    ...agents.flatMap((agent) => secretsIn(agent.env)),
    ...Object.values(config.notify).flatMap(({ secret = '' }) => (isTelling(secret) ? [secret] : [])),
    ...Object.values(config.watches).flatMap(({ hookSecret = '' }) =>
      isTelling(hookSecret) ? [hookSecret] : [],
    ),
    token,
  ]
  return {
    redactor: new Redactor({ builtIn, patterns, values: secrets }),
    notices: missing.map((name) => `redact.values: ${name} is not set, so its value is not redacted.`),
  }
}

function readValue(value: string, env: MachineEnv): { secret: string } | { unset: string } {
  const name = /^env:(.*)$/s.exec(value)?.[1]
  if (name === undefined) return { secret: value }
  const secret = env[name]
  if (!secret) return { unset: name }
  if (secret.length >= MIN_VALUE_CHARS) return { secret }
  throw new RepriseError(
    'config-invalid',
    `redact.values: the value of ${name} has fewer than ${MIN_VALUE_CHARS} characters and would match everywhere`,
    { hint: `Remove env:${name} from redact.values, or set ${name} to a longer value.` },
  )
}

const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i

function secretsIn(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && isTelling(value) ? [value] : [],
  )
}

/**
 * Nobody asked for these values to be redacted, so short values and plain words are skipped: they would match
 * everywhere.
 */
const isTelling = (value: string) => value.length >= 8 && /\d|[^\w\s-]/.test(value)
