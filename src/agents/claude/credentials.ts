import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account, Env } from '../adapter.ts'
import { configDirOf } from './config-dir.ts'
import { isRecord } from './wire.ts'

/** Whether the CLI has credentials. Only a request shows whether they are accepted. */
export async function hasClaudeCredentials(env: Env): Promise<boolean> {
  const variables = [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_USE_FOUNDRY',
  ]
  if (variables.some((name) => env[name])) return true
  const dir = configDirOf(env)
  if (
    await stat(join(dir, '.credentials.json')).then(
      () => true,
      () => false,
    )
  )
    return true
  const settings = await readFile(join(dir, 'settings.json'), 'utf8')
    .then(JSON.parse)
    .catch(() => null)
  return isRecord(settings) && typeof settings.apiKeyHelper === 'string'
}

const SECRETS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']
/** Other vendors serve the same models under their own accounts. */
const CLOUDS = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'AWS_PROFILE',
  'AWS_REGION',
  'ANTHROPIC_VERTEX_PROJECT_ID',
  'CLOUD_ML_REGION',
]
const DEFAULT_BASE_URL = 'https://api.anthropic.com'

/** A login that is not in the environment belongs to the configuration directory. */
export function claudeAccount(env: Env): Account {
  const given = [...SECRETS, ...CLOUDS].flatMap((name) => (env[name] ? [`${name}=${env[name]}`] : []))
  const baseUrl = withoutCredentials(env.ANTHROPIC_BASE_URL || DEFAULT_BASE_URL)
  return {
    baseUrl,
    baseUrlSetting: 'ANTHROPIC_BASE_URL',
    connectsTo: connectsTo(env, baseUrl),
    identity: (given.length > 0 ? given : [configDirOf(env)]).join('\n'),
  }
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']

/**
 * The addresses of other vendors depend on their own settings, and an address behind a proxy cannot be tested directly.
 */
function connectsTo(env: Env, baseUrl: string): string | null {
  if (!URL.canParse(baseUrl)) return null
  const isElsewhere = !env.ANTHROPIC_BASE_URL && CLOUDS.some((name) => name.includes('_USE_') && env[name])
  const { hostname } = new URL(baseUrl)
  const direct = (env.NO_PROXY || env.no_proxy || '').split(',').map((host) => host.trim())
  const isProxied = PROXIES.some((name) => env[name]) && !direct.includes(hostname)
  return isElsewhere || isProxied ? null : baseUrl
}

function withoutCredentials(address: string): string {
  try {
    const url = new URL(address)
    url.username = url.password = ''
    url.search = ''
    return url.href.replace(/\/$/, '')
  } catch {
    return 'an address that is none'
  }
}

/** An agent whose model address is configured is not redirected to the simulator. */
export function simulateClaude(env: Env, simulatorUrl: string, configDir: string): Env | null {
  if (env.ANTHROPIC_BASE_URL) return null
  return {
    ...env,
    ANTHROPIC_BASE_URL: simulatorUrl,
    ANTHROPIC_API_KEY: 'simulated',
    CLAUDE_CONFIG_DIR: configDir,
    // Requests to loopback must not go through a proxy.
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  }
}
