import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Env } from '../adapter.ts'
import { configDirOf } from './config-dir.ts'
import { isRecord } from './wire.ts'

/** Something the CLI could log in with. Whether it is accepted only a request tells. */
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
