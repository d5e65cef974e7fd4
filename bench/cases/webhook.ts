/**
 * From an alert to a working agent: POST /api/hooks/:watch until the agent's program has begun ÷ a bare spawn of the
 * same program until it has begun. The difference includes: reading and storing the event, a cycle, admitting its run,
 * deciding, leasing, rules and guards for its tier, a keeper.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { buildEnvironment } from '../../src/agents/environment.ts'
import type { Cycle } from '../../src/contract/cycle.ts'
import { until, World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'
import { writeStandIn } from '../stand-in.ts'

export const webhook: Benchmark = {
  name: 'webhook',
  about:
    'From sending an alert to a watch until the agent has started ÷ from a bare spawn of the agent until it has started.',
  run: async ({ short }) => {
    const world = await World.create({ name: 'webhook', rules: [{ reply: 'unused' }] })
    try {
      const agent = writeStandIn(world)
      const starts = join(world.dir, 'starts')
      await mkdir(starts)
      const command = join(world.dir, 'noted')
      // The program first prints the time.
      await writeFile(
        command,
        `#!/bin/sh\ncase $1 in -p) date +%s%N >"${starts}/$$" ;; esac\nexec '${agent.command}' "$@"\n`,
      )
      await chmod(command, 0o755)
      await world.configure({ agents: { 'stand-in': { adapter: 'claude', command } } })
      await world.startDaemon()
      const workDir = world.workDir
      await world.api('POST', '/api/watches', {
        name: 'web',
        workDir,
        prompt: 'be quick',
        agent: 'stand-in',
        eventsPerHour: 3600,
      })
      const begun = async () => {
        const name = await until(() => readdirSync(starts)[0], 'the agent to begin')
        const file = join(starts, name)
        const text = await until(() => readFileSync(file, 'utf8').trim(), 'its time')
        rmSync(file)
        return Number(BigInt(text) / 1000n) / 1000
      }
      const env = buildEnvironment(claudeAdapter, world.env, {})
      let count = 0
      const { hooked, bare } = await interleave(
        {
          bare: async () => {
            const from = Date.now()
            const child = spawn(command, ['-p'], { cwd: workDir, env, stdio: ['ignore', 'ignore', 'ignore'] })
            await once(child, 'exit')
            return (await begun()) - from
          },
          hooked: async () => {
            const from = Date.now()
            await world.api('POST', '/api/hooks/web', { fingerprint: `f${count++}`, title: 'down' })
            const ms = (await begun()) - from
            await until(async () => {
              const { items } = await world.api<{ items: Cycle[] }>('GET', '/api/watches/web/cycles?limit=1')
              return items[0]?.state === 'ended'
            }, 'the cycle to end')
            return ms
          },
        },
        short ? 1 : 30,
      )
      return [
        figure('webhook to agent ÷ bare spawn', '×', ratios(hooked, bare)),
        figure('webhook to agent', 'ms', hooked),
        figure('bare spawn', 'ms', bare),
      ]
    } finally {
      await world.close()
    }
  },
}
