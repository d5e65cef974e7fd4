/**
 * Probes what a Claude Code executable can do: its version, and its flags from its own --help. A flag that is not
 * listed is never used. The probe does not cache; see agents/registry.ts.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { RepriseError } from '../../contract/errors.ts'
import type { Env, Probe } from '../adapter.ts'

const run = promisify(execFile)
/** Generous: the first start after an installation reads several hundred MB, which takes long on a slow or busy machine. */
const TIMEOUT_MS = 60_000

export async function probeClaude(path: string, env: Env): Promise<Probe> {
  const [version, help] = await Promise.all([ask(path, '--version', env), ask(path, '--help', env)])
  const has = (flag: string) => new RegExp(`(^|[\\s,])${flag}(?![\\w-])`, 'm').test(help)
  const streaming = has('--input-format') && has('--output-format')
  if (!streaming) {
    throw new RepriseError(
      'agent-unavailable',
      `${path} does not look like Claude Code: no --input-format in its help`,
      {
        hint: 'Set agents.<name>.command to a Claude Code executable (npm install -g @anthropic-ai/claude-code).',
      },
    )
  }
  const capabilities = {
    resume: has('--resume'),
    sessionId: has('--session-id'),
    fork: has('--fork-session'),
    partialMessages: has('--include-partial-messages'),
    // The flag itself is undocumented; it came with the control protocol of stream-json input.
    permissionPrompt: streaming,
    budget: has('--max-budget-usd'),
    structuredOutput: has('--json-schema'),
    toolChoice: has('--tools'),
    sealing: has('--setting-sources') && has('--strict-mcp-config'),
  }
  const number = /\d+\.\d+\.\d+\S*/.exec(version)?.[0] ?? version.trim().slice(0, 40)
  return { version: number, capabilities }
}

async function ask(path: string, flag: string, env: Env): Promise<string> {
  try {
    const { stdout } = await run(path, [flag], { env, timeout: TIMEOUT_MS, maxBuffer: 4 << 20 })
    return stdout
  } catch (cause) {
    throw new RepriseError('agent-unavailable', `${path} ${flag} ${explain(cause)}`, {
      hint: 'Run that command by hand to see why; reinstall the agent if it is broken.',
      cause,
    })
  }
}

function explain(cause: unknown): string {
  const { killed, message } = cause as Error & { killed?: boolean }
  return killed ? `did not end within ${TIMEOUT_MS / 1000} s` : `failed: ${message.split('\n')[0]}`
}
