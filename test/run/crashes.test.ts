/**
 * kill -9 of the daemon, of the agent, of both, at chosen moments of a run on the real CLI. Afterwards: one settled
 * run, every event once and in order, the model never asked the same thing twice, cost counted once, nothing left.
 */
import { existsSync, readFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { CreateRun } from '../../src/contract/create-run.ts'
import type { EventType } from '../../src/contract/events.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import { readMarker } from '../../src/process/proc.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { pauseAt } from '../support/pause.ts'
import { killIfThere, parentOf } from '../support/processes.ts'
import { QUESTION } from '../support/question.ts'
import { sampleOf } from '../support/sample.ts'
import { transcriptHas } from '../support/transcripts.ts'
import { until, World } from '../support/world.ts'

let world: World
/** Shared by all tests that begin with a daemon that runs. */
let shared: World | null = null
afterEach(() => (world === shared ? undefined : world.close()))
afterAll(() => shared?.close())
/** The number of requests of earlier tests. */
let seen = 0

const PROMPT = 'begin the work'
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })
const waitsForFile = (mark: string, before = '', prompt = PROMPT): RuleInput => ({
  when: `/^${prompt}$/`,
  reply: [
    bash(`${before}echo ran >> ${mark}; until [ -e finished ]; do sleep 0.05; done; echo through`),
    { await: 'results' },
    { text: 'Tool said: ${toolResult}' },
  ],
})
const otherwise: RuleInput = { reply: 'You said: ${user}' }

async function begin(...rules: RuleInput[]): Promise<void> {
  const scenario = { name: 'crash', rules: [...rules, otherwise] }
  const config = { run: { concurrency: 5, termAfter: '1s', killAfter: '1s' } }
  world = shared ??= await World.create(scenario, config)
  world.simulator.setScenario(scenario)
  seen = world.simulator.requests().length
  for (const name of await readdir(world.workDir)) await rm(join(world.workDir, name))
  if (world.daemonPid === 0) await world.startDaemon()
}

/** Of one run, when no other is open any more. */
async function checkInvariants(run: RunDetail): Promise<void> {
  expect(world.processes()).toEqual([])
  const events = await world.events(run.id)
  expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1))
  expect(events.filter((e) => e.type === 'run-end')).toHaveLength(1)
  expect(events.at(-1)?.type).toBe('run-end')
  const starts = events.flatMap((e) => (e.type === 'tool-start' ? [e.toolUseId] : []))
  expect(new Set(starts).size).toBe(starts.length)
  // The cost of the run is what the simulator charged, each request once.
  const sessions = new Set(run.attempts.map(({ agentSessionId }) => agentSessionId))
  const sent = requests().filter(
    (r) => sessions.has(r.sessionId ?? '') && r.status === 200 && r.outcome === 'answered',
  )
  expect(run.usage.outputTokens).toBe(sent.reduce((sum, r) => sum + (r.usage?.output_tokens ?? 0), 0))
  expect(run.usage.cacheWriteTokens).toBe(
    sent.reduce((sum, r) => sum + (r.usage?.cache_creation_input_tokens ?? 0), 0),
  )
  expect(run.costUsd).toBeGreaterThan(0)
}

const requests = () => world.simulator.requests().slice(seen)

/** To all sessions, or to one. */
const promptsSent = (sessionId?: string | null) =>
  requests()
    .filter((r) => sessionId === undefined || r.sessionId === sessionId)
    .map((r) => r.userText)
    .filter(Boolean)

describe('the daemon is killed', () => {
  it('while agents wait for the model and for our answers: all are adopted, also one that finishes meanwhile', async () => {
    const touch = (file: string) => [bash(`touch ${file}`), { await: 'results' as const }, { text: 'Made.' }]
    const ask = { tool: 'AskUserQuestion', input: { questions: [QUESTION] } }
    await begin(
      { when: '/^think$/', reply: [{ text: 'Thinking.' }, { hold: 'thought' }, { text: ' Done.' }] },
      { when: '/^finish$/', reply: [{ text: 'Thinking.' }, { hold: 'finish' }, { text: ' Done.' }] },
      { when: '/^ask by a request$/', reply: touch('requested') },
      { when: '/^ask by a hook$/', reply: touch('hooked') },
      { when: '/^ask me$/', reply: [ask, { await: 'results' }, { text: 'Got ${toolResult}' }] },
    )
    const start = async (prompt: string, permissions: CreateRun['permissions'], until: EventType) => {
      const { id } = await world.createRun({ prompt, permissions })
      await world.waitForEvent(id, ({ type }) => type === until)
      return id
    }
    const [thinks, finishes, prompts, hooks, asks] = await Promise.all([
      start('think', 'ask', 'text-delta'),
      start('finish', 'ask', 'text-delta'),
      start('ask by a request', 'ask', 'permission-ask'),
      start('ask by a hook', 'ask-all', 'permission-ask'),
      start('ask me', 'ask', 'question-ask'),
    ])
    const agents = world.agents().map(({ pid }) => pid)
    expect(agents).toHaveLength(5)
    const spool = spoolOf(await world.getRun(finishes), 'out')
    await world.killDaemon()
    world.simulator.release('finish')
    // That agent has ended its turn and waits for our message.
    await until(() => readFileSync(spool, 'utf8').includes('"type":"result"'), 'the result')
    expect(world.agents().map(({ pid }) => pid)).toEqual(agents)

    await world.startDaemon()
    world.simulator.release('thought')
    const answer = async (id: string, with_: object) => {
      const { pending } = await world.getRun(id)
      expect(pending).toHaveLength(1)
      const { toolUseId } = pending[0]!
      await world.api('POST', `/api/runs/${id}/tool-result`, { toolUseId, ...with_ })
    }
    for (const file of ['requested', 'hooked']) expect(existsSync(join(world.workDir, file))).toBe(false)
    await answer(prompts, { decision: 'allow' })
    await answer(hooks, { decision: 'allow' })
    await answer(asks, { answers: { [QUESTION.question]: 'Blue' } })

    const ids = [thinks, finishes, prompts, hooks, asks]
    const runs = await Promise.all(ids.map((id) => world.settled(id)))
    const results = [' Done.', ' Done.', 'Made.', 'Made.', expect.stringContaining('"Blue"')]
    for (const [index, run] of runs.entries())
      expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1, resultText: results[index] })
    for (const file of ['requested', 'hooked']) expect(existsSync(join(world.workDir, file))).toBe(true)
    for (const { sessionId, prompt } of runs.slice(0, 2)) expect(promptsSent(sessionId)).toEqual([prompt])
    for (const run of runs) await checkInvariants(run)
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
    seen = 0
    world = await World.create({ name: 'pause', rules: [{ when: '/^begin the work$/', reply: 'Done.' }] })
    const id = await pauseAt(world, when, method, { run: { prompt: PROMPT, workDir: world.workDir } })
    await world.startDaemon()
    const run = await world.settled(id)
    expect(run).toMatchObject({ outcome: 'completed', resultText: 'Done.' })
    expect(promptsSent()).toEqual([PROMPT])
    await checkInvariants(run)
  })

  it('after an answer is stored and before it is delivered: it is delivered', async () => {
    seen = 0
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

/** A file of the run's last agent. */
const spoolOf = (run: RunDetail, file: string) =>
  join(world.home, 'spool', run.attempts.at(-1)?.id ?? '', file)
const pidIn = (run: RunDetail, file: string) => Number(readFileSync(spoolOf(run, file), 'utf8'))

it('the agent is killed mid-tool, alone or with its keeper: resumed, told that the outcome is unknown, and no process of its tool is left', async () => {
  const stray = 'env -i setsid sleep 1000 >/dev/null 2>&1 & echo $! > stray; '
  await begin(waitsForFile('mark', stray), waitsForFile('other', '', 'begin the rest'))
  const start = async (prompt: string, mark: string) => {
    const { id } = await world.createRun({ prompt, permissions: 'allow' })
    await until(() => existsSync(join(world.workDir, mark)), 'the tool')
    await transcriptHas(world, id, '"tool_use"')
    return world.getRun(id)
  }
  const [alone, together] = await Promise.all([start(PROMPT, 'mark'), start('begin the rest', 'other')])
  const agent = world.agents().find(({ pid }) => readMarker(pid) === alone.attempts[0]?.id)
  process.kill(agent!.pid, 'SIGKILL')
  process.kill(-pidIn(together, 'keeper'), 'SIGKILL')
  const runs = [await world.settled(alone.id), await world.settled(together.id)]
  for (const [index, { sessionId }] of [alone, together].entries()) {
    expect(runs[index]).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true, sessionId })
    expect(runs[index]?.attempts[0]?.outcome?.name).toBe('crashed')
  }
  // This process has neither the environment nor the session nor the parents of the agent.
  const left = readFileSync(join(world.workDir, 'stray'), 'utf8').trim()
  // Its process table entry stays until init has reaped it.
  await until(() => !existsSync(`/proc/${left}`), 'what the tool left behind to be gone')
  const sent = promptsSent(alone.sessionId)
  expect(sent).toHaveLength(2)
  const note = sent.at(-1)!
  expect(note).toContain('interrupted')
  expect(note).toContain('unknown')
  expect(note).toContain('echo ran >> mark')
  expect(note).not.toContain(PROMPT)
  expect(readFileSync(join(world.workDir, 'mark'), 'utf8')).toBe('ran\n')
  expect(runs[0]?.costEstimated).toBe(true)
  for (const run of runs) await checkInvariants(run)
})

describe('a process that feeds the agent its input is killed', () => {
  const touches: RuleInput = {
    when: '/^begin the work$/',
    times: 1,
    reply: [{ hold: 'gate' }, bash('touch made'), { await: 'results' }, { text: 'Stopped.' }],
  }
  /** Holder and feeder. Not told apart by the order of their pids: these begin again at a low number now and then. */
  const helpers = async (id: string) => {
    const run = await world.getRun(id)
    const [keeper, feeder] = [pidIn(run, 'keeper'), pidIn(run, 'feeder')]
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
    const pids = await helpers(id)
    for (const victim of victims) process.kill(pids[victim]!, 'SIGKILL')
    if (early) world.simulator.release('gate')
    const run = await world.settled(id)
    expect(run.attempts.map((a) => a.outcome?.name)).toEqual(['crashed', 'completed'])
    expect(run.outcome).toBe('completed')
    // If it is killed this early, the CLI may not have written the prompt to its transcript: then it is sent again.
    expect(promptsSent().at(-1)).toContain(run.resumed ? 'interrupted' : PROMPT)
    expect(JSON.stringify(requests().at(-1)?.messages)).not.toContain("doesn't want")
    expect(world.processes()).toEqual([])
  })

  it('the holder: nothing happens', async () => {
    await begin(touches)
    const { id } = await world.createRun({ prompt: PROMPT, permissions: 'allow' })
    await world.simulator.waitForHold('gate')
    process.kill((await helpers(id))[0]!, 'SIGKILL')
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
  for (const { pid } of victims) killIfThere(pid)
  await until(() => world.processes().length === 0, 'everything to be gone')
  await world.startDaemon()
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
  expect(promptsSent()).toHaveLength(2)
  expect(promptsSent().at(-1)).toContain('unknown')
  await checkInvariants(run)
})
