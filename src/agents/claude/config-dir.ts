/** The directory of Claude Code's own configuration, logins and sessions. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '../adapter.ts'

export function configDirOf(env: Env): string {
  return env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude')
}

/**
 * Settings may define hooks, which run without permission. Those of a work directory have the same names everywhere.
 */
export function claudeOwnFiles(env: Env): string[] {
  return [`${configDirOf(env)}/**`, '.claude/settings.json', '.claude/settings.local.json', '.mcp.json']
}
