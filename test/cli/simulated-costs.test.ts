/** Costs that nobody pays are called simulated where they are listed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { statsLines } from '../../src/cli/commands/stats.ts'
import type { Agent } from '../../src/contract/agent.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
beforeAll(async () => {
  cli = await createCliDouble()
  cli.engine.addRun({ agent: 'claude', costUsd: 0.5 })
  cli.engine.addJob({ agent: 'claude' })
})
afterAll(() => cli.close())

const CLAUDE: Omit<Agent, 'simulated'> = {
  name: 'claude',
  adapter: 'claude',
  command: 'claude',
  available: true,
  problem: null,
  path: null,
  version: null,
  runtimeId: null,
  capabilities: null,
  loggedIn: null,
  connectsTo: null,
}

test('runs, jobs and stats say so, and only then', async () => {
  const simulated = (value: boolean) => {
    cli.engine.listAgents = async () => [{ ...CLAUDE, simulated: value }]
  }
  const note = /The costs are simulated: .*claude.* to the simulator\./
  simulated(true)
  for (const list of ['runs', 'jobs']) {
    expect((await cli.run([list])).stderr).toMatch(note)
    expect((await cli.run([list, '--json'])).stderr).toBe('')
  }
  expect((await cli.run(['stats'])).stdout).toMatch(/^cost +\S+ \(simulated: .*claude/m)
  simulated(false)
  for (const list of ['runs', 'jobs']) expect((await cli.run([list])).stderr).not.toContain('simulated')
  const stats = await cli.engine.readStats()
  expect(statsLines(stats).join('\n')).not.toContain('simulated')
})
