/** The simulator with the real Claude Code CLI, each run in its own home. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Usage } from '../../src/simulator/request-record.ts'
import type { ScenarioInput } from '../../src/simulator/scenario-types.ts'
import type { Simulator } from '../../src/simulator/server.ts'
import { startSimulator } from '../../src/simulator/server.ts'

const CLAUDE = resolve(import.meta.dirname, '../../node_modules/.bin/claude')

interface CliResult {
  is_error: boolean
  terminal_reason: string | null
  api_error_status: number | null
  result: string
  usage: Usage
}

let simulator: Simulator
let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'simulator-'))
  await mkdir(join(home, 'work'))
})

afterEach(async () => {
  await simulator.close()
  await rm(home, { recursive: true, force: true })
})

async function start(scenario: ScenarioInput): Promise<void> {
  simulator = await startSimulator({ scenario })
}

function claude(prompt: string, ...args: string[]): Promise<CliResult> {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, 'config'),
    ANTHROPIC_API_KEY: 'made-up',
    ANTHROPIC_BASE_URL: simulator.url,
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    IS_SANDBOX: '1',
  }
  const fixed = [
    '-p',
    '--output-format',
    'json',
    '--model',
    'haiku',
    '--permission-mode',
    'bypassPermissions',
  ]
  return new Promise((settle, reject) => {
    const child = execFile(
      CLAUDE,
      [...fixed, ...args],
      { cwd: join(home, 'work'), env },
      (error, stdout, stderr) => {
        try {
          settle(JSON.parse(stdout) as CliResult)
        } catch {
          reject(new Error(`claude said no JSON: ${stdout} ${stderr}`, { cause: error }))
        }
      },
    )
    child.stdin?.end(prompt)
  })
}

it('a text turn, then a resumed one that reads the first from the prompt cache', async () => {
  await start({ rules: [{ reply: 'You said: ${user}' }] })
  const sessionId = randomUUID()
  const first = await claude('remember the word plover', '--session-id', sessionId)
  expect(first).toMatchObject({ is_error: false, result: 'You said: remember the word plover' })
  expect(first.usage.cache_read_input_tokens).toBe(0)
  expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(1000)

  const second = await claude('which word?', `--resume=${sessionId}`)
  expect(second.result).toBe('You said: which word?')
  expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens)

  const [, resumed, ...more] = simulator.requests({ sessionId })
  expect(more).toEqual([])
  expect(JSON.stringify(resumed?.messages)).toContain('You said: remember the word plover')
})

it('a turn with a real Bash call, whose result comes back to the script', async () => {
  await writeFile(join(home, 'work', 'treasure.txt'), '')
  await start({
    rules: [
      {
        when: 'look',
        reply: [
          'Looking.',
          { tool: 'Bash', input: { command: 'ls' } },
          { await: 'results' },
          'Found ${toolResult}',
        ],
      },
    ],
  })
  const turn = await claude('look around')
  expect(turn.result).toBe('Found treasure.txt')
  expect(simulator.requests().at(-1)?.toolResults).toMatchObject([
    { tool: 'Bash', text: 'treasure.txt', isError: false },
  ])
})

it('a stream that is cut half-way is continued', async () => {
  await start({ rules: [{ reply: ['the first half', { cut: { times: 1 } }, 'the rest'] }] })
  expect((await claude('tell me')).result).toBe('the rest')
  expect(simulator.requests().map((record) => record.outcome)).toEqual(['cut', 'answered'])
})

it('an overflowing conversation is compacted by the CLI, and the side request finds its answer', async () => {
  const long = 'many words and '.repeat(400)
  await start({ rules: [{ reply: 'Heard ${user}' }] })
  const sessionId = randomUUID()
  await claude(`one ${long}`, '--session-id', sessionId)
  const used = simulator.requests()[0]?.usage?.cache_creation_input_tokens ?? 0
  simulator.setScenario({
    models: { haiku: { contextWindow: used + 1000 } },
    rules: [{ reply: 'Heard ${user}' }],
  })

  const second = await claude(`two ${long}`, `--resume=${sessionId}`)
  expect(second).toMatchObject({ is_error: false })
  expect(second.result).toMatch(/^Heard two many words/)
  expect(simulator.requests({ kind: 'compact' }).at(-1)).toMatchObject({
    status: 200,
    rule: 'built-in compact',
  })
})

it('an overflow without history is reported as such', async () => {
  await start({ rules: [{ reply: [{ overflow: true }] }] })
  expect(await claude('hello')).toMatchObject({
    is_error: true,
    terminal_reason: 'prompt_too_long',
    api_error_status: 400,
  })
})

it('a rate limit that resets soon is waited for, one that resets late is reported', async () => {
  await start({
    rules: [
      { when: 'soon', reply: [{ rateLimit: { resetsIn: '1s', times: 1 } }, 'after the limit'] },
      { when: 'late', reply: [{ rateLimit: { resetsIn: '2h' } }] },
    ],
  })
  expect((await claude('soon')).result).toBe('after the limit')
  expect(await claude('late')).toMatchObject({
    is_error: true,
    terminal_reason: 'api_error',
    api_error_status: 429,
  })
})
