/**
 * kill -9 of the daemon, of the agent, of both, at chosen moments of a run on the real CLI. Afterwards: one settled
 * run, every event once and in order, the model never asked the same thing twice, cost counted once, nothing left.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { pauseAt } from '../support/pause.ts'
import { sampleOf } from '../support/sample.ts'
import { transcriptHas } from '../support/transcripts.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const PROMPT = 'begin the work'
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })
const held: RuleInput = {
  when: '/^begin the work$/',
  reply: [{ text: 'Thinking.' }, { hold: 'gate' }, { text: ' Done.' }],
}
const waitsForFile = (mark: string, before = ''): RuleInput => ({
  when: '/^begin the work$/',
  reply: [
    bash(`${before}echo ran >> ${mark}; until [ -e finished ]; do sleep 0.05; done; echo through`),
    { await: 'results' },
    { text: 'Tool said: ${toolResult}' },
  ],
})
const otherwise: RuleInput = { reply: 'You said: ${user}' }

async function begin(...rules: RuleInput[]): Promise<void> {
  world = await World.create({ name: 'crash', rules: [...rules, otherwise] })
  await world.startDaemon()
}

/** Ignores the error if the process has ended meanwhile. */
function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

const agentOf = () =>
  world.processes().find((p) => /claude.* -p /.test(p.command) && !/keeper/.test(p.command))

async function checkInvariants(run: RunDetail): Promise<void> {
  const events = await world.events(run.id)
  expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1))
  expect(events.filter((e) => e.type === 'run-end')).toHaveLength(1)
  expect(events.at(-1)?.type).toBe('run-end')
  const starts = events.flatMap((e) => (e.type === 'tool-start' ? [e.toolUseId] : []))
  expect(new Set(starts).size).toBe(starts.length)
  expect(world.processes()).toEqual([])
  // The cost of the run is what the simulator charged, each request once.
  const sent = world.simulator.requests().filter((r) => r.status === 200 && r.outcome === 'answered')
  expect(run.usage.outputTokens).toBe(sent.reduce((sum, r) => sum + (r.usage?.output_tokens ?? 0), 0))
  expect(run.usage.cacheWriteTokens).toBe(
    sent.reduce((sum, r) => sum + (r.usage?.cache_creation_input_tokens ?? 0), 0),
  )
  expect(run.costUsd).toBeGreaterThan(0)
}

const promptsSent = () =>
  world.simulator
    .requests()
    .map((r) => r.userText)
    .filter(Boolean)

describe('the daemon is killed', () => {
  it('while the agent waits for the model: the agent is not affected, and is adopted', async () => {
    await begin(held)
    const { id } = await world.createRun({ prompt: PROMPT })
    await world.simulator.waitForHold('gate')
    await world.waitForEvent(id, (e) => e.type === 'text-delta')
    const pid = agentOf()?.pid
    await world.killDaemon()
    expect(agentOf()?.pid).toBe(pid)
    await world.startDaemon()
    world.simulator.release('gate')
    const run = await world.settled(id)
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1, resultText: ' Done.' })
    expect(promptsSent()).toEqual([PROMPT])
    await checkInvariants(run)
  })

  it('and the agent finishes meanwhile: its end is known', async () => {
    await begin(held)
    const { id } = await world.createRun({ prompt: PROMPT })
    await world.simulator.waitForHold('gate')
    const agent = agentOf()!
    await world.killDaemon()
    world.simulator.release('gate')
    // The agent has ended its turn and waits for our message.
    const spool = join(world.home, 'spool', (await spoolOf()) ?? '', 'out')
    await until(() => readFileSync(spool, 'utf8').includes('"type":"result"'), 'the result')
    expect(agentOf()?.pid).toBe(agent.pid)
    await world.startDaemon()
    const run = await world.settled(id)
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1, resultText: ' Done.' })
    await checkInvariants(run)
  })

  it('and the agent is killed meanwhile: it is resumed', async () => {
    await begin(waitsForFile('mark'))
    const { id } = await world.createRun({ prompt: PROMPT, permissions: 'allow' })
    await until(() => existsSync(join(world.workDir, 'mark')), 'the tool')
    await transcriptHas(world, id, '"tool_use"')
    const { pid } = agentOf()!
    await world.killDaemon()
    process.kill(pid, 'SIGKILL')
    await until(() => !agentOf(), 'the agent to be gone')
    await world.startDaemon()
    const run = await world.settled(id)
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
    await checkInvariants(run)
  })

  it.each([
    ['permission', 'ask', { decision: 'allow' }],
    ['hook', 'ask-all', { decision: 'allow' }],
  ] as const)(
    'while the agent waits for our answer (%s): the answer reaches it afterwards',
    async (_, permissions, answer) => {
      await begin({
        when: '/^begin the work$/',
        reply: [bash('touch made'), { await: 'results' }, { text: 'Made.' }],
      })
      const { id } = await world.createRun({ prompt: PROMPT, permissions })
      await world.waitForEvent(id, (e) => e.type === 'permission-ask')
      await world.killDaemon()
      expect(agentOf()).toBeDefined()
      await world.startDaemon()
      const { pending } = await world.getRun(id)
      expect(pending).toHaveLength(1)
      expect(existsSync(join(world.workDir, 'made'))).toBe(false)
      await world.api('POST', `/api/runs/${id}/tool-result`, { toolUseId: pending[0]!.toolUseId, ...answer })
      const run = await world.settled(id)
      expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1, resultText: 'Made.' })
      expect(existsSync(join(world.workDir, 'made'))).toBe(true)
      await checkInvariants(run)
    },
  )

  it('while the agent waits for our answer (question): the answer reaches it afterwards', async () => {
    const question = {
      question: 'Which?',
      header: 'W',
      multiSelect: false,
      options: [
        { label: 'A', description: 'a' },
        { label: 'B', description: 'b' },
      ],
    }
    await begin({
      when: '/^begin the work$/',
      reply: [
        { tool: 'AskUserQuestion', input: { questions: [question] } },
        { await: 'results' },
        { text: 'Got ${toolResult}' },
      ],
    })
    const { id } = await world.createRun({ prompt: PROMPT })
    await world.waitForEvent(id, (e) => e.type === 'question-ask')
    await world.killDaemon()
    await world.startDaemon()
    const { pending } = await world.getRun(id)
    await world.api('POST', `/api/runs/${id}/tool-result`, {
      toolUseId: pending[0]!.toolUseId,
      answers: { 'Which?': 'B' },
    })
    const run = await world.settled(id)
    expect(run.outcome).toBe('completed')
    expect(run.resultText).toContain('"B"')
    await checkInvariants(run)
  })

  const writes = sampleOf(
    [
      ['before', 'startAttempt'],
      ['after', 'startAttempt'],
      ['before', 'markLaunched'],
      ['after', 'markLaunched'],
      ['before', 'advanceAttempt'],
      ['after', 'advanceAttempt'],
      ['before', 'endAttempt'],
      ['after', 'endAttempt'],
    ],
    (write) => write,
  )
  it.each(writes)('%s %s is stored', async (when, method) => {
    world = await World.create({ name: 'pause', rules: [{ when: '/^begin the work$/', reply: 'Done.' }] })
    const id = await pauseAt(world, when, method, { run: { prompt: PROMPT, workDir: world.workDir } })
    await world.startDaemon()
    const run = await world.settled(id)
    expect(run).toMatchObject({ outcome: 'completed', resultText: 'Done.' })
    expect(promptsSent()).toEqual([PROMPT])
    await checkInvariants(run)
  })

  it('after an answer is stored and before it is delivered: it is delivered', async () => {
    world = await World.create({
      name: 'pause',
      rules: [
        { when: '/^begin the work$/', reply: [bash('touch made'), { await: 'results' }, { text: 'Made.' }] },
      ],
    })
    const id = await pauseAt(world, 'after', 'answerQuestion', {
      run: { prompt: PROMPT, workDir: world.workDir, permissions: 'ask' },
      answerAll: true,
    })
    await world.startDaemon()
    const run = await world.settled(id)
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1, resultText: 'Made.' })
    await checkInvariants(run)
  })
})

async function spoolOf(): Promise<string | undefined> {
  return (await readdir(join(world.home, 'spool')))[0]
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

describe('the agent is killed', () => {
  it('mid-tool: it is resumed, told that the outcome is unknown, and no process of its tool is left', async () => {
    await begin(waitsForFile('mark', 'env -i setsid sleep 1000 >/dev/null 2>&1 & echo $! > stray; '))
    const { id } = await world.createRun({ prompt: PROMPT, permissions: 'allow' })
    await until(() => existsSync(join(world.workDir, 'mark')), 'the tool')
    await transcriptHas(world, id, '"tool_use"')
    const first = await world.getRun(id)
    process.kill(agentOf()!.pid, 'SIGKILL')
    const run = await world.settled(id)
    expect(run).toMatchObject({
      outcome: 'completed',
      attemptCount: 2,
      resumed: true,
      sessionId: first.sessionId,
    })
    expect(run.attempts[0]?.outcome?.name).toBe('crashed')
    // This process has neither the environment nor the session nor the parents of the agent.
    const stray = readFileSync(join(world.workDir, 'stray'), 'utf8').trim()
    // Its process table entry stays until init has reaped it.
    await until(() => !existsSync(`/proc/${stray}`), 'what the tool left behind to be gone')
    const note = promptsSent().at(-1)!
    expect(promptsSent()).toHaveLength(2)
    expect(note).toContain('interrupted')
    expect(note).toContain('unknown')
    expect(note).toContain('echo ran >> mark')
    expect(note).not.toContain(PROMPT)
    expect(readFileSync(join(world.workDir, 'mark'), 'utf8')).toBe('ran\n')
    expect(run.costEstimated).toBe(true)
    await checkInvariants(run)
  })

  it('before it accepted the prompt: the prompt is sent again, alone', async () => {
    world = await World.create({ name: 'early', rules: [{ reply: 'You said: ${user}' }] })
    // This agent dies the first time it is started for a run; later starts run the real one.
    const real = resolve(import.meta.dirname, '../../node_modules/.bin/claude')
    const wrapper = join(world.dir, 'claude-that-dies-once')
    await writeFile(
      wrapper,
      `#!/bin/sh\ncase $1 in -p) [ -e "${world.dir}/died" ] || { touch "${world.dir}/died"; kill -9 $$; };; esac\nexec "${real}" "$@"\n`,
      { mode: 0o755 },
    )
    await world.configure({ agents: { claude: { command: wrapper, model: 'haiku' } } })
    await world.startDaemon()
    const run = await world.run({ prompt: 'hello' })
    expect(run).toMatchObject({
      outcome: 'completed',
      attemptCount: 2,
      resumed: false,
      freshReason: 'no-prior-turn',
      carry: 'none',
    })
    expect(promptsSent()).toEqual(['hello'])
  })

  it('with its keeper, mid-tool, while the daemon lives: resumed', async () => {
    await begin(waitsForFile('mark'))
    const { id } = await world.createRun({ prompt: PROMPT, permissions: 'allow' })
    await until(() => existsSync(join(world.workDir, 'mark')), 'the tool')
    await transcriptHas(world, id, '"tool_use"')
    const keeper = world.processes().find((p) => p.command.includes('keeper.sh'))!
    process.kill(-keeper.pid, 'SIGKILL')
    const run = await world.settled(id)
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
    await checkInvariants(run)
  })

  it('and its session is gone afterwards: a new session, told which tools had run', async () => {
    await begin(waitsForFile('mark'))
    const { id } = await world.createRun({ prompt: PROMPT, permissions: 'allow' })
    await until(() => existsSync(join(world.workDir, 'mark')), 'the tool')
    // The agent is stopped first, because it would write the file again.
    process.kill(agentOf()!.pid, 'SIGSTOP')
    await rm(join(world.configDir, 'projects'), { recursive: true })
    process.kill(agentOf()!.pid, 'SIGKILL')
    await writeFile(join(world.workDir, 'finished'), '')
    const run = await world.settled(id)
    expect(run).toMatchObject({
      outcome: 'completed',
      attemptCount: 2,
      resumed: false,
      freshReason: 'transcript-missing',
      carry: 'handoff',
    })
    const sent = promptsSent().at(-1)!
    expect(sent).toContain('echo ran >> mark')
    expect(sent).toContain('outcome unknown')
    expect(sent.trimEnd().endsWith(PROMPT)).toBe(true)
  })
})

describe('a process that feeds the agent its input is killed', () => {
  const touches: RuleInput = {
    when: '/^begin the work$/',
    times: 1,
    reply: [{ hold: 'gate' }, bash('touch made'), { await: 'results' }, { text: 'Stopped.' }],
  }
  /** Holder and feeder. Not told apart by the order of their pids: these begin again at a low number now and then. */
  const helpers = async () => {
    const dir = join(world.home, 'spool', (await spoolOf()) ?? '')
    const pidIn = (name: string) => Number(readFileSync(join(dir, name), 'utf8'))
    const [keeper, feeder] = [pidIn('keeper'), pidIn('feeder')]
    const isHolder = ({ pid, command }: { pid: number; command: string }) =>
      command.includes('keeper.sh') && pid !== feeder && parentOf(pid) === keeper
    return [world.processes().find(isHolder)?.pid, feeder]
  }

  const kills = sampleOf(
    [
      ['the feeder', 'before the agent asks', [1]],
      ['the feeder', 'while the agent waits for an answer', [1]],
      ['both', 'before the agent asks', [0, 1]],
      ['both', 'while the agent waits for an answer', [0, 1]],
    ],
    ([who, when]) => [who, when],
  )
  it.each(kills)('%s, %s: never treated as a refusal by the user', async (_, when, victims) => {
    const early = when === 'before the agent asks'
    await begin(touches)
    const { id } = await world.createRun({ prompt: PROMPT, permissions: 'ask' })
    await world.simulator.waitForHold('gate')
    if (!early) {
      world.simulator.release('gate')
      await world.waitForEvent(id, (e) => e.type === 'permission-ask')
    }
    const pids = await helpers()
    for (const victim of victims) process.kill(pids[victim]!, 'SIGKILL')
    if (early) world.simulator.release('gate')
    const run = await world.settled(id)
    expect(run.attempts.map((a) => a.outcome?.name)).toEqual(['crashed', 'completed'])
    expect(run.outcome).toBe('completed')
    // If it is killed this early, the CLI may not have written the prompt to its transcript: then it is sent again.
    expect(promptsSent().at(-1)).toContain(run.resumed ? 'interrupted' : PROMPT)
    expect(JSON.stringify(world.simulator.requests().at(-1)?.messages)).not.toContain("doesn't want")
    expect(world.processes()).toEqual([])
  })

  it('the holder: nothing happens', async () => {
    await begin(touches)
    const { id } = await world.createRun({ prompt: PROMPT, permissions: 'allow' })
    await world.simulator.waitForHold('gate')
    process.kill((await helpers())[0]!, 'SIGKILL')
    world.simulator.release('gate')
    expect(await world.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
    expect(existsSync(join(world.workDir, 'made'))).toBe(true)
  })
})

it('daemon and agent are killed together, mid-tool: resumed after the restart', async () => {
  await begin(waitsForFile('mark'))
  const { id } = await world.createRun({ prompt: PROMPT, permissions: 'allow' })
  await until(() => existsSync(join(world.workDir, 'mark')), 'the tool')
  await transcriptHas(world, id, '"tool_use"')
  const victims = world.processes()
  await world.killDaemon()
  for (const { pid } of victims) killQuietly(pid)
  await until(() => world.processes().length === 0, 'everything to be gone')
  await world.startDaemon()
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
  expect(promptsSent()).toHaveLength(2)
  expect(promptsSent().at(-1)).toContain('unknown')
  await checkInvariants(run)
})

it('a second daemon on the same home is refused, naming the first one', async () => {
  await begin(held)
  const child = spawn(resolve(import.meta.dirname, '../../bin/reprise'), ['up', '--foreground'], {
    env: world.env,
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const [code] = await once(child, 'exit')
  expect(code).toBe(1)
  expect(said).toContain(String(JSON.parse(readFileSync(join(world.home, 'daemon.json'), 'utf8')).pid))
})
