/**
 * A turn through the daemon ÷ the same turn by the CLI alone. Both get the same flags, environment and prompt, and both
 * are told to end after their result; the time ends when the result is known and the process has ended.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Probe } from '../../src/agents/adapter.ts'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { buildEnvironment } from '../../src/agents/environment.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { claudePath } from '../machine.ts'
import { interleave, ratios, timeMs } from '../measure.ts'
import { residentMb } from '../process-facts.ts'

const PROMPT = 'Say something.'
const MODEL = 'haiku'

export const turn: Benchmark = {
  name: 'turn',
  about:
    'From POST /api/runs until run-end is received ÷ the same CLI with the same flags and stdin until it has exited. Both use the same simulator.',
  run: async ({ short }) => {
    const world = await World.create({
      name: 'turn',
      rules: [{ reply: 'Something, and a little more of it.' }],
    })
    try {
      await world.startDaemon()
      const env = buildEnvironment(claudeAdapter, world.env, {})
      const runtime = await claudeAdapter.probe(claudePath(), env)
      const sides = {
        bare: () => timeMs(() => bareTurn(world, runtime, env)),
        supervised: () => timeMs(() => supervisedTurn(world)),
        text: () => timeMs(() => textTurn(world, env)),
      }
      // The difference between the first two is smaller than the variation from turn to turn, so many samples are
      // needed.
      const { bare, supervised } = await interleave(
        { bare: sides.bare, supervised: sides.supervised },
        short ? 1 : 120,
        { cold: short },
      )
      const { text, again } = await interleave(
        { text: sides.text, again: sides.supervised },
        short ? 1 : 30,
        { cold: true },
      )
      const memory = residentMb(world.daemonPid)
      return [
        figure('supervised ÷ bare', '×', ratios(supervised, bare), { most: 1.05 }),
        figure(
          'supervised − bare',
          'ms',
          supervised.map((ms, index) => ms - (bare[index] ?? Number.NaN)),
        ),
        figure('supervised', 'ms', supervised),
        figure('bare, stream-json', 'ms', bare),
        figure('bare, plain text', 'ms', text),
        figure('supervised ÷ bare, plain text', '×', ratios(again, text)),
        figure('daemon after all turns, VmRSS', 'MB', [memory]),
      ]
    } finally {
      await world.close()
    }
  },
}

async function supervisedTurn(world: World): Promise<void> {
  const { id } = await world.createRun({ prompt: PROMPT, permissions: 'edits' })
  const end = await world.waitForEvent(id, (event) => event.type === 'run-end')
  if (end.type !== 'run-end' || end.outcome.name !== 'completed') throw new Error(JSON.stringify(end))
}

type Env = Readonly<Record<string, string>>

async function bareTurn(world: World, runtime: Probe, env: Env): Promise<void> {
  const plan = claudeAdapter.plan({
    runtime,
    decision: { kind: 'fresh', reason: 'first-run', carry: 'none' },
    agentSessionId: randomUUID(),
    promptId: randomUUID(),
    prompt: [PROMPT],
    model: MODEL,
    permissions: 'edits',
    maxTurns: null,
    maxBudgetUsd: null,
    extraArgs: [],
    gated: false,
    tier: null,
    directory: { workDir: world.workDir, applies: false, instructions: null },
  })
  const child = spawn(claudePath(), plan.args, { cwd: world.workDir, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  for (const { line } of plan.input) child.stdin.write(`${line}\n`)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const ended = output.includes('"type":"result"')
    output += chunk
    if (ended || !output.includes('"type":"result"')) return
    for (const { line } of claudeAdapter.farewell('done', { agentSessionId: '' }).messages)
      child.stdin.write(`${line}\n`)
    child.stdin.end()
  })
  const [code] = await exited
  if (code !== 0 || !output.includes('"subtype":"success"'))
    throw new Error(`bare turn: exit ${code}\n${output}`)
}

async function textTurn(world: World, env: Env): Promise<void> {
  const args = ['-p', `--model=${MODEL}`, '--permission-mode=acceptEdits']
  const child = spawn(claudePath(), args, { cwd: world.workDir, env, stdio: ['pipe', 'ignore', 'ignore'] })
  const exited = once(child, 'exit')
  child.stdin.end(PROMPT)
  const [code] = await exited
  if (code !== 0) throw new Error(`text turn: exit ${code}`)
}
