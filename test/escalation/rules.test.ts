/** Rules that hold, on the real CLI: what is forbidden does not happen, however it is written; what is counted is counted once. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { bash, FIXED, Incident, report, results, tier } from '../support/incident.ts'
import { until } from '../support/world.ts'

let incident: Incident
afterEach(() => incident.close())

/** All calls of one message run after each other, and each must end before the next is looked at. */
const calls = (n: number, ...steps: { tool: string; input: Record<string, unknown> }[]): RuleInput => ({
  when: { user: `tier ${n} of` },
  reply: [...steps.flatMap((step) => [step, results]), report(FIXED), results, { text: 'end' }],
})

const PRUNE = 'docker system prune -f'
const encoded = Buffer.from(PRUNE).toString('base64')
const DISGUISED = [
  PRUNE,
  `sh -c "${PRUNE}"`,
  `bash -lc 'env X=1 ${PRUNE}'`,
  'a=doc; b=ker; $a$b system prune -f',
  `eval "$(echo ${encoded} | base64 -d)"`,
  `echo ${encoded} | base64 -d | sh`,
  'echo system prune -f | xargs docker',
  'docker $(echo system) pr""une -f',
  `node -e 'require("child_process").execSync(["doc"+"ker","sys"+"tem","pru"+"ne"].join(" "))'`,
  `node -e 'require("child_process").spawnSync(Buffer.from("ZG9ja2Vy","base64")+"",["sys"+"tem","pru"+"ne"],{stdio:"inherit"})'`,
  `awk 'BEGIN { system("dock" "er sys" "tem pru" "ne") }'`,
  'printf "doc%s system pr%s" ker une > s.sh; sh s.sh',
  `timeout 5 nohup nice docker --log-level error system prune`,
]
const INNOCENT = ['docker ps', 'echo "docker system prune"', 'docker system df']

describe('what no tier may do', () => {
  it('does not happen at the highest tier, however it is dressed up; what only looks like it does', async () => {
    const steps = [...DISGUISED, ...INNOCENT].map(bash)
    incident = await Incident.begin([calls(3, ...steps)])
    const chain = await incident.play({ tier: 3 })
    expect(chain.runs[0]).toMatchObject({ outcome: 'completed', tier: 3 })
    expect(incident.docker).toEqual(['ps', 'system df'])
    const events = await incident.world.events(chain.rootRunId)
    const refused = events.filter((e) => e.type === 'refusal')
    expect(refused.length).toBeGreaterThanOrEqual(DISGUISED.length)
    expect(chain.runs[0]?.refusals).toBe(refused.length)
    // The agent is told why.
    const told = events.flatMap((e) => (e.type === 'tool-end' ? [JSON.stringify(e.content)] : []))
    for (const [index, command] of DISGUISED.entries())
      expect(told[index], command).toMatch(/prune|forbidden|cannot/i)
  })

  it('is not done by tools for files either, also through a link', async () => {
    const write = (file_path: string) => ({ tool: 'Write', input: { file_path, content: 'x' } })
    incident = await Incident.begin([
      calls(
        3,
        write('ie.yaml'),
        write('link/new.txt'),
        write('.claude/settings.json'),
        write('mine.txt'),
        bash('echo x > ie.yaml'),
      ),
    ])
    const { workDir, home } = incident.world
    await mkdir(join(home, 'state'), { recursive: true })
    await symlink(home, join(workDir, 'link'))
    const chain = await incident.play({ tier: 3 })
    expect(chain.runs[0]?.refusals).toBe(4)
    expect((await readdir(workDir)).sort()).toEqual(['link', 'mine.txt'])
    expect(existsSync(join(home, 'new.txt'))).toBe(false)
  })

  it('is not done by what the work directory tells the agent to run', async () => {
    incident = await Incident.begin([tier(1, ['docker ps'], FIXED)])
    const { workDir, dir } = incident.world
    const hook = { type: 'command', command: `touch '${dir}/hooked'` }
    await mkdir(join(workDir, '.claude'))
    await writeFile(
      join(workDir, '.claude', 'settings.json'),
      JSON.stringify({
        hooks: { PreToolUse: [{ matcher: '*', hooks: [hook] }], SessionStart: [{ hooks: [hook] }] },
      }),
    )
    expect((await incident.play()).runs[0]?.outcome).toBe('completed')
    expect(incident.docker).toEqual(['ps'])
    expect(existsSync(join(dir, 'hooked'))).toBe(false)
  })
})

describe('a tier', () => {
  it('has its own tools and commands and no others', async () => {
    incident = await Incident.begin([
      calls(
        1,
        bash('docker restart web'),
        { tool: 'Write', input: { file_path: 'x', content: '' } },
        bash('docker ps'),
      ),
    ])
    const chain = await incident.play()
    expect(incident.docker).toEqual(['ps'])
    expect(existsSync(join(incident.world.workDir, 'x'))).toBe(false)
    expect(chain.runs[0]?.refused[0]).toMatchObject({ tool: 'Bash', what: 'docker restart web' })
    expect(chain.runs[0]?.refused[0]?.reason).toContain('Recommend escalation')
    // What it does not have it is not offered.
    const offered = incident.world.simulator.requests()[0]?.tools
    expect(offered).toContain('Bash')
    expect(offered).not.toContain('Write')
  })

  it('is stopped when its budget is used up, and so is the chain', async () => {
    incident = await Incident.begin([tier(1, ['docker ps', 'docker ps -a'])], {
      tiers: { 1: { budgetUsd: 0.000001 } },
    })
    const chain = await incident.play()
    expect(chain.runs.map(({ outcome }) => outcome)).toEqual(['budget'])
    expect(chain.runs[0]?.escalation).toMatchObject({ decision: 'stop', reason: 'budget' })
  })
})

describe('a cooldown', () => {
  const restarts = { cooldowns: { restart: { limit: 1 }, redeploy: { limit: 0 } } }
  const restart = bash('docker restart web')

  it('counts each start once, over tiers, runs and daemons, and who started it; then nothing is worth another tier', async () => {
    const byProgram = bash(`node -e 'require("child_process").execSync("docker res"+"tart db")'`)
    const rules = [
      tier(1, [], { escalate: true, services: ['web'] }),
      calls(2, restart, restart, bash('docker restart -t 5 web')),
      calls(3, byProgram, byProgram, restart),
    ]
    incident = await Incident.begin(rules, restarts)
    const first = await incident.play()
    expect(first.runs.map((run) => run.tier)).toEqual([1, 2])
    expect(incident.docker).toEqual(['restart web'])
    expect(first.runs[1]?.refusals).toBe(2)
    expect(first.runs[1]?.refused[0]?.reason).toContain('at most 1')

    await incident.world.killDaemon()
    await incident.world.startDaemon()
    const second = await incident.play({ tier: 3 })
    expect(incident.docker).toEqual(['restart web', 'restart db'])
    expect(second.runs[0]?.refusals).toBe(2)

    const third = await incident.play()
    expect(third.runs).toHaveLength(1)
    expect(third.runs[0]?.escalation).toMatchObject({ decision: 'stop', reason: 'cooldown' })

    const file = JSON.parse(readFileSync(join(incident.world.home, 'state', 'cooldown.json'), 'utf8'))
    expect(file.services).toMatchObject({
      web: { restart: { used: 1, limit: 1 } },
      db: { restart: { used: 1 } },
    })
  })
})

describe('Reprise dies while the agent waits for its answer', () => {
  it('the tool does not run until somebody says that it may; then once', async () => {
    incident = await Incident.begin([
      {
        when: { user: 'tier 2 of' },
        reply: [
          { hold: 'gate' },
          bash('docker restart web'),
          results,
          report(FIXED),
          results,
          { text: 'ok' },
        ],
      },
    ])
    const { world } = incident
    const { id } = await incident.investigate({ tier: 2 })
    await world.simulator.waitForHold('gate')
    await world.killDaemon()
    world.simulator.release('gate')
    const [attempt] = await readdir(join(world.home, 'spool'))
    const out = join(world.home, 'spool', attempt ?? '', 'out')
    await until(() => readFileSync(out, 'utf8').includes('docker restart web"'), 'the agent to ask')
    expect(incident.docker).toEqual([])
    await world.startDaemon()
    const chain = await incident.rested(id)
    expect(chain.runs[0]).toMatchObject({ outcome: 'completed', attemptCount: 1, refusals: 0 })
    expect(incident.docker).toEqual(['restart web'])
  })
})

it('a dry run at no tier runs nothing that the work directory brings along, and asks whom it would have asked', async () => {
  incident = await Incident.begin(
    [{ reply: [bash('docker ps > made'), results, bash('ls'), results, { text: 'end' }] }],
    {
      dryRun: true,
    },
  )
  const { world } = incident
  const hook = { type: 'command', command: `touch '${world.dir}/hooked'` }
  await mkdir(join(world.workDir, '.claude'))
  await writeFile(
    join(world.workDir, '.claude', 'settings.json'),
    JSON.stringify({ hooks: { PreToolUse: [{ matcher: '*', hooks: [hook] }] } }),
  )
  const { id } = await world.createRun({ prompt: 'go', permissions: 'ask-all' })
  const asked = await world.waitForEvent(
    id,
    (e) => e.type === 'permission-ask' && JSON.stringify(e).includes('"ls"'),
  )
  expect(asked).toMatchObject({ tool: 'Bash', input: { command: 'ls' } })
  const [question] = (await until(async () => {
    const { pending } = await world.getRun(id)
    return pending.length > 0 ? pending : null
  }, 'the question'))!
  await world.api('POST', `/api/runs/${id}/tool-result`, {
    toolUseId: question!.toolUseId,
    decision: 'allow',
  })
  expect(await world.settled(id)).toMatchObject({ outcome: 'completed', refusals: 1 })
  expect(existsSync(join(world.dir, 'hooked'))).toBe(false)
  expect(existsSync(join(world.workDir, 'made'))).toBe(false)
})

it('a chain is cancelled by any of its runs, whatever it is doing', async () => {
  const rules = [tier(1, []), { when: { user: 'tier 2 of' }, reply: [{ hold: 'never' }, { text: 'late' }] }]
  incident = await Incident.begin(rules, { tiers: { 3: { approval: true } } })
  const { world } = incident
  const { id } = await incident.investigate()
  await world.simulator.waitForHold('never')
  await world.api('POST', `/api/runs/${id}/cancel`)
  const chain = await incident.rested(id)
  expect(chain.runs.map(({ outcome }) => outcome)).toEqual(['completed', 'cancelled'])
  expect(chain.runs[1]?.escalation).toMatchObject({ decision: 'stop', reason: 'cancelled' })
  const direct = await world.request('POST', '/api/runs', { prompt: 'x', workDir: world.workDir, tier: 3 })
  expect(direct.status).toBe(400)
  expect(await direct.text()).toContain('tier 3 needs approval')
})

it('what makes no sense is refused, with the reason', async () => {
  incident = await Incident.begin([{ reply: 'ok' }])
  const { workDir } = incident.world
  for (const [change, says] of [
    [{ tier: 7 }, 'there is no tier 7'],
    [{ tier: 3, maxTier: 2 }, 'above the highest'],
    [{ tier: 1, permissions: 'allow' }, 'permissions: is defined by the tier'],
    [{ tier: 1, model: 'opus' }, 'model: is defined by the tier'],
    [{ maxTier: 2 }, 'maxTier: requires tier'],
    [{ environment: 'x' }, 'environment: requires tier'],
    [{ tier: 0 }, 'tier'],
  ] as const) {
    const answer = await incident.world.request('POST', '/api/runs', { prompt: 'x', workDir, ...change })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(says)
  }
  for (const [path, method, status] of [
    ['chain', 'GET', 404],
    ['approval', 'POST', 404],
  ] as const) {
    const body = method === 'POST' ? { decision: 'approve' } : undefined
    const answer = await incident.world.request(
      method,
      `/api/runs/run_01M7H0SZ31HG93GY54X8ZXNGTD/${path}`,
      body,
    )
    expect(answer.status).toBe(status)
  }
})
