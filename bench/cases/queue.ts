/**
 * Trivial jobs per second through the queue ÷ the same processes per second with plain `spawn`: same program,
 * arguments, stdin, environment, output to a file, and concurrency. The difference is everything that Reprise does for
 * a job: storing it, deciding, a keeper, a spool that is read and stored, settling, each step on disk before the next.
 * The agent does nothing, so this is the worst case: a real one takes a hundred times as long.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { buildEnvironment } from '../../src/agents/environment.ts'
import { createJob } from '../../test/support/jobs.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'
import { STAND_IN_PROMPTS, type StandIn, writeStandIn } from '../stand-in.ts'

const POLL_MS = 5

/** How many at a time, and how many in total. */
const LONG = {
  sizes: [
    [1, 20],
    [8, 80],
    [50, 200],
  ],
  pairs: 5,
} as const
const SHORT = {
  sizes: [[2, 4]],
  pairs: 1,
} as const

export const queue: Benchmark = {
  name: 'queue',
  about:
    'Trivial jobs per second, from the first POST /api/jobs until all have ended ÷ the same processes per second with plain spawn and the same concurrency.',
  run: async ({ short }) => {
    const { sizes, pairs } = short ? SHORT : LONG
    const figures: Figure[] = []
    for (const [parallel, count] of sizes) figures.push(...(await measure(parallel, count, pairs)))
    return figures
  },
}

async function measure(parallel: number, count: number, pairs: number): Promise<Figure[]> {
  const world = await World.create({ name: 'queue', rules: [{ reply: 'unused' }] })
  try {
    const agent = writeStandIn(world)
    await world.configure({ agents: agent.agents, run: { concurrency: parallel } })
    await world.startDaemon()
    const dirs = Array.from({ length: count }, (_, index) => join(world.workDir, `${index}`))
    for (const dir of dirs) mkdirSync(dir)
    const bareOnce = await prepareBare(world, agent)
    const { queued, bare } = await interleave(
      {
        bare: () => timeMs(() => inParallel(parallel, dirs, bareOnce)),
        queued: () => timeMs(() => runJobs(world, agent, parallel, dirs)),
      },
      pairs,
    )
    return [
      figure(`throughput of the queue ÷ bare, ${parallel} in parallel`, '×', ratios(bare, queued)),
      figure(
        `queue, ${parallel} in parallel`,
        'jobs/s',
        queued.map((ms) => (1000 * count) / ms),
      ),
      figure(
        `bare, ${parallel} in parallel`,
        'jobs/s',
        bare.map((ms) => (1000 * count) / ms),
      ),
    ]
  } finally {
    await world.close()
  }
}

async function runJobs(
  world: World,
  { name }: StandIn,
  parallel: number,
  dirs: readonly string[],
): Promise<void> {
  await inParallel(parallel, dirs, async (workDir) => {
    await createJob(world, { prompt: STAND_IN_PROMPTS.quick, agent: name, workDir })
  })
  for (;;) {
    const { runs } = await world.api<{ runs: Record<'queued' | 'running' | 'settled', number> }>(
      'GET',
      '/api/status',
    )
    if (runs.queued + runs.running === 0) return
    await delay(POLL_MS)
  }
}

/** Returns a function that runs the agent once as Reprise would, but without Reprise. */
async function prepareBare(world: World, { command }: StandIn): Promise<(workDir: string) => Promise<void>> {
  const env = buildEnvironment(claudeAdapter, world.env, {})
  const runtime = await claudeAdapter.probe(command, env)
  return async (workDir) => {
    const plan = claudeAdapter.plan({
      runtime,
      decision: { kind: 'fresh', reason: 'first-run', carry: 'none' },
      agentSessionId: randomUUID(),
      promptId: randomUUID(),
      prompt: [STAND_IN_PROMPTS.quick],
      model: null,
      permissions: 'edits',
      maxTurns: null,
      maxBudgetUsd: null,
      extraArgs: [],
      gated: false,
      tier: null,
      directory: { workDir: workDir, applies: false, instructions: null },
    })
    const [input, output] = [join(workDir, 'in'), join(workDir, 'out')]
    writeFileSync(input, plan.input.map(({ line }) => `${line}\n`).join(''))
    const [stdin, stdout] = [openSync(input, 'r'), openSync(output, 'w')]
    const child = spawn(command, plan.args, { cwd: workDir, env, stdio: [stdin, stdout, 'ignore'] })
    closeSync(stdin)
    closeSync(stdout)
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`the stand-in ended with ${code}`)
  }
}

async function inParallel<T>(
  parallel: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}
