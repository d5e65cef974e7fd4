/** Which secrets are known here: those of the configuration, and those that agents are given. */
import type { ConfiguredAgent } from '../agents/registry.ts'
import type { Config } from '../config/schema.ts'
import { RepriseError } from '../contract/errors.ts'
import { MIN_VALUE_CHARS, Redactor } from '../core/redact/redactor.ts'
import type { MachineEnv } from './agents.ts'

export interface KnownSecrets {
  config: Config
  env: MachineEnv
  /** As they are configured. */
  agents: readonly ConfiguredAgent[]
  /** What everybody must show who talks to the daemon. */
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
    notices: missing.map(
      (name) => `redact.values: ${name} is not set, so what it should hold is not looked for.`,
    ),
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
    `redact.values: what ${name} holds has fewer than ${MIN_VALUE_CHARS} characters, and would be found everywhere`,
    { hint: `Take env:${name} out of redact.values, or set ${name} to something longer.` },
  )
}

const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i

function secretsIn(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && isTelling(value) ? [value] : [],
  )
}

/** Nobody said that it is to be looked for: a value that is a word, or short, would be found where it means nothing. */
const isTelling = (value: string) => value.length >= 8 && /\d|[^\w\s-]/.test(value)
