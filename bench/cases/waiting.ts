/**
 * What waiting for follow-ups costs, and how late they fire. Memory: that of the whole daemon while a hundred
 * follow-ups wait ÷ that of a hundred agents kept open instead, extrapolated from a few, because a hundred would not
 * fit. Lateness: from the due time of a follow-up until it is fired, with ten thousand others planned.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { buildEnvironment } from '../../src/agents/environment.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import { until, World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure } from '../figure.ts'
import { claudePath } from '../machine.ts'
import { proportionalMb } from '../process-facts.ts'
import { STAND_IN_PROMPTS, writeStandIn } from '../stand-in.ts'

const WAITING = 100
const LATER_MS = 3_600_000

export const waiting: Benchmark = {
  name: 'waiting',
  about:
    'Memory while 100 follow-ups wait: the whole daemon ÷ 100 agents kept open (extrapolated from 4). Lateness: from the due time until fired, with 10,000 planned.',
  run: async ({ short }) => [...(await measureMemory(short ? 1 : 4)), ...(await measureLateness(short))],
}

async function measureMemory(agents: number): Promise<Figure[]> {
  const world = await World.create({ name: 'waiting', rules: [{ reply: 'ok' }] }, OPEN_LIMITS)
  try {
    await world.startDaemon()
    const { id } = await world.run({ prompt: 'hello' })
    const idle = proportionalMb(world.daemonPid)
    await plan(world, id, WAITING, () => LATER_MS)
    const ours = proportionalMb(world.daemonPid)
    const held = await holdAgents(world, agents)
    return [
      figure('memory, 100 wait ÷ 100 agents held', '×', [ours / (held * WAITING)]),
      figure('the daemon before any waits', 'MB', [idle]),
      figure('the daemon while 100 wait', 'MB', [ours]),
      figure('one agent that is held', 'MB', [held]),
    ]
  } finally {
    await world.close()
  }
}

const OPEN_LIMITS = { followUps: { maxPending: 1000, maxPendingTotal: 100_000, hold: '0ms' } }

/** The memory of one of several agents that have answered and wait for more. */
async function holdAgents(world: World, count: number): Promise<number> {
  const env = buildEnvironment(claudeAdapter, world.env, {})
  const args = [
    '-p',
    '--input-format=stream-json',
    '--output-format=stream-json',
    '--verbose',
    '--model=haiku',
  ]
  const children = Array.from({ length: count }, () =>
    spawn(claudePath(), args, { cwd: world.workDir, env, stdio: ['pipe', 'pipe', 'ignore'] }),
  )
  try {
    for (const child of children) {
      child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content: 'hello' } })}\n`)
      let said = ''
      child.stdout.on('data', (chunk) => {
        said += chunk
      })
      await until(() => said.includes('"type":"result"'), 'an answer')
    }
    const taken = children.map(({ pid }) => proportionalMb(pid ?? 0))
    return taken.reduce((sum, mb) => sum + mb, 0) / count
  } finally {
    for (const child of children) {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
  }
}

async function measureLateness(short: boolean): Promise<Figure[]> {
  const [pending, due] = short ? [100, 10] : [10_000, 300]
  const world = await World.create({ name: 'lateness', rules: [{ reply: 'unused' }] })
  try {
    const agent = writeStandIn(world)
    await world.configure({ ...OPEN_LIMITS, agents: agent.agents, run: { concurrency: 4 } })
    await world.startDaemon()
    const run = () => world.run({ prompt: STAND_IN_PROMPTS.quick, agent: agent.name })
    // A session may have at most a thousand.
    for (let left = pending; left > 0; left -= 1000) {
      await plan(world, (await run()).id, Math.min(left, 1000), () => LATER_MS)
    }
    const { id } = await run()
    const [soonest, spread] = short ? [1000, 500] : [3000, 5000]
    await plan(world, id, due, () => soonest + Math.random() * spread)
    const fired = await until(
      async () => {
        const found = await listFired(world, id)
        return found.length === due ? found : null
      },
      'all to be fired',
      120_000,
    )
    const late = fired
      .map(({ firedAt, dueAt }) => Date.parse(firedAt ?? '') - Date.parse(dueAt))
      .sort((a, b) => a - b)
    return [
      figure(`lateness of ${due}, ${pending} planned`, 'ms', late),
      figure(`lateness, p99`, 'ms', [late[Math.floor((late.length - 1) * 0.99)] ?? Number.NaN]),
    ]
  } finally {
    await settle(world)
    await world.close()
  }
}

async function plan(world: World, runId: string, count: number, inMs: () => number): Promise<void> {
  const one = () =>
    world.api('POST', '/api/followups', {
      runId,
      prompt: STAND_IN_PROMPTS.quick,
      inMs: Math.round(inMs()),
    })
  for (let left = count; left > 0; left -= 50) {
    await Promise.all(Array.from({ length: Math.min(left, 50) }, one))
  }
}

async function listFired(world: World, runId: string): Promise<FollowUp[]> {
  const found: FollowUp[] = []
  for (let cursor = ''; ; ) {
    const page = await world.api<{ items: FollowUp[]; nextCursor: string | null }>(
      'GET',
      `/api/followups?runId=${runId}&state=fired&limit=200${cursor && `&cursor=${cursor}`}`,
    )
    found.push(...page.items)
    if (page.nextCursor === null) return found
    cursor = page.nextCursor
  }
}

/** The fired follow-ups run one after the other in one session; the benchmark does not wait for them. */
async function settle(world: World): Promise<void> {
  await world.killDaemon('SIGTERM')
  for (;;) {
    const left = world.processes()
    if (left.length === 0) return
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {}
    }
    await delay(20)
  }
}
