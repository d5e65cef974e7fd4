/** The folder of Claude Code's own configuration, logins and sessions. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '../adapter.ts'

export function configDirOf(env: Env): string {
  return env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude')
}
