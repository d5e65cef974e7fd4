/** The options of `openReprise`, and what they mean. */
import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { processEnvironment } from '../config/environment.ts'
import { resolveHome } from '../config/home.ts'
import type { Settings } from '../config/schema.ts'
import { RepriseError } from '../contract/errors.ts'
import type { MachineEnv } from './agents.ts'
import type { LogCallback } from './log.ts'

export interface OpenOptions {
  /** The directory with all state. Default: `REPRISE_HOME`, else `~/.reprise`. */
  home?: string | undefined
  /** The database: a path, or an address as in `store.url`. Default: SQLite in the home. */
  store?: string | undefined
  /** Agents by name, as under `agents` in config.yaml; added to those of the configuration. */
  agents?: Settings['agents'] | undefined
  /** Any other settings, in the form of config.yaml. They override the configuration files and the environment. */
  settings?: Settings | undefined
  /** The behaviour if a daemon runs on the home: `use` it, or `refuse` to open. Default: `use`. */
  daemon?: 'use' | 'refuse' | undefined
  /** Lets agents without credentials talk to the built-in simulator, which costs nothing and answers nonsense. */
  simulate?: boolean | undefined
  /** Default: the environment of this process. Agents get an allow-listed part of it. */
  env?: Readonly<Record<string, string | undefined>> | undefined
  /** The directory that relative paths and missing work directories refer to. Default: that of this process. */
  cwd?: string | undefined
  /** Called with each log entry, with secrets redacted. Default: nothing is logged. */
  log?: LogCallback | undefined
}

const text = z.string().min(1)
const mapping = z.record(z.string(), z.unknown())
const callback = z.custom<LogCallback>((value) => typeof value === 'function', {
  error: 'expected a function',
})

/** `process.env` is no plain object. */
const copyOf = (env: unknown) => (typeof env === 'object' && env !== null ? { ...env } : env)

/** Settings are checked by the configuration loader, which says which one is wrong. */
const OpenOptionsSchema = z.strictObject({
  home: text.optional(),
  store: text.optional(),
  agents: mapping.optional(),
  settings: mapping.optional(),
  daemon: z.enum(['use', 'refuse']).optional(),
  simulate: z.boolean().optional(),
  env: z.preprocess(copyOf, z.record(z.string(), z.string().optional())).optional(),
  cwd: text.optional(),
  log: callback.optional(),
})

export interface ResolvedOptions {
  home: string
  cwd: string
  env: MachineEnv
  settings: object | undefined
  daemon: 'use' | 'refuse'
  simulate: boolean
  log: LogCallback | undefined
  /** Options that a daemon cannot be given, because it has its own. */
  onlyHere: readonly string[]
}

export function resolveOptions(options: OpenOptions): ResolvedOptions {
  const { error } = OpenOptionsSchema.safeParse(options)
  if (error) throw wrongOptions(error.issues)
  const { store, agents, daemon = 'use', simulate = false, log } = options
  const cwd = resolve(options.cwd ?? process.cwd())
  const env = options.env ?? processEnvironment()
  const home = options.home === undefined ? resolveHome({ env, cwd }) : resolve(cwd, options.home)
  const settings = {
    ...options.settings,
    ...(store === undefined ? {} : { store: { url: storeUrl(store, cwd) } }),
    ...(agents === undefined ? {} : { agents: { ...options.settings?.agents, ...agents } }),
  }
  const isSet = Object.keys(settings).length > 0
  const onlyHere = (['store', 'agents', 'settings', 'simulate'] as const).filter((name) => options[name])
  return { home, cwd, env, settings: isSet ? settings : undefined, daemon, simulate, log, onlyHere }
}

const storeUrl = (store: string, cwd: string) =>
  /^\w{2,}:/.test(store) ? store : `sqlite:${isAbsolute(store) ? store : resolve(cwd, store)}`

function wrongOptions(issues: readonly z.core.$ZodIssue[]): RepriseError {
  const problems = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${key}: unknown option`)
      : [
          `${issue.path.join('.') || 'options'}: ${lowerFirst(issue.message.replace(/^Invalid (input|option): /, ''))}`,
        ],
  )
  return new RepriseError('bad-request', `openReprise: ${problems.join('; ')}`, {
    hint: `Known options: ${Object.keys(OpenOptionsSchema.shape).join(', ')}.`,
    details: { problems },
  })
}

const lowerFirst = (message: string) => message.charAt(0).toLowerCase() + message.slice(1)
