/**
 * Costs on the real CLI: a run costs the sum of its attempts, a session costs the sum of the attempts in it, and both
 * equal what the simulator has billed, also if agents and daemons were killed in between.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { Stats } from '../../src/contract/stats.ts'
import { killIfThere } from '../support/processes.ts'
import { sampleOf } from '../support/sample.ts'
import { transcriptHas } from '../support/transcripts.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

type Request = ReturnType<World['simulator']['requests']>[number]

/** The charge for a call up to where it was cut off, in units of the price of one input token. */
function weightOf({ usage }: Request): number {
  if (!usage) return 0
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = usage.cache_creation
  const read = usage.cache_read_input_tokens
  return usage.input_tokens + 5 * usage.output_tokens + 0.1 * read + 1.25 * short + 2 * long
}

const billed = (since = 0) =>
  world.simulator.requests({ since }).reduce((weight, request) => weight + weightOf(request), 0)

const sessionOf = (id: string) => world.api<{ costUsd: number }>('GET', `/api/sessions/${id}`)

const sumOf = (run: RunDetail) => run.attempts.reduce((usd, { costUsd }) => usd + (costUsd ?? Number.NaN), 0)

const findAgent = () => world.agents()[0]

const killAgent = () => {
  const agent = findAgent()
  if (agent) killIfThere(agent.pid)
}

/**
 * Resolves when the agent has printed all that the model said: what it has not printed when it is killed, nobody can
 * count. Looks at its output and not at the events: the last words may be held back there, as the beginning of a secret.
 */
async function printedAll(): Promise<void> {
  const spool = join(world.home, 'spool')
  const attempt = readdirSync(spool).sort().at(-1) ?? ''
  const text = /"type":"text_delta","text":("(?:[^"\\]|\\.)*")/g
  const printed = () =>
    [...readFileSync(join(spool, attempt, 'out'), 'utf8').matchAll(text)]
      .map(([, quoted]) => (JSON.parse(quoted ?? '""') as string).length)
      .reduce((sum, length) => sum + length, 0)
  await until(() => printed() >= LONG.length, 'all that the model said')
}

const LONG = 'I look at everything there is, one after the other. '.repeat(40)
const scenario = {
  name: 'money',
  rules: [
    { when: '/^begin/', reply: [{ text: LONG }, { hold: 'sentence' }, { text: 'Done.' }] },
    { when: '/^again/', reply: [{ text: LONG }, { hold: 'again' }, { text: 'Done again.' }] },
    { when: 'interrupted', reply: 'Done after all.' },
    { when: '/./', reply: 'Yes.' },
  ],
}

type Victim = 'the agent' | 'both'
const orders: readonly [Victim, Victim][] = [
  ['the agent', 'both'],
  ['both', 'the agent'],
]
const sampled = sampleOf(orders, () => ['killed'])
it.each(sampled)(
  '%s killed in the middle of a stream, and %s in the middle of the next one',
  async (...victims) => {
    world = await World.create(scenario)
    await world.startDaemon()
    const kill = async (victim: Victim | undefined) => {
      if (victim === 'both') await world.killDaemon()
      killAgent()
      if (victim === 'both') await world.startDaemon()
    }
    const next = async (prompt: string, hold: string, sessionId?: string) => {
      const { id } = await world.createRun({ prompt, ...(sessionId ? { sessionId } : {}) })
      await world.simulator.waitForHold(hold)
      await printedAll()
      // The CLI writes its transcript some time later. Without one there would be nothing to resume.
      await transcriptHas(world, id, prompt)
      await kill(victims.shift())
      const run = await world.settled(id)
      expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, costEstimated: true })
      return id
    }

    // The price of the model is not known yet when the first attempt dies.
    const first = await next('begin', 'sentence')
    const sessionId = (await world.getRun(first)).sessionId ?? ''
    const second = await next('again', 'again', sessionId)
    const seen = world.simulator.requests().at(-1)?.n ?? 0
    // Nothing is killed in this run: it shows how the agent counts tokens.
    const { id: third } = await world.run({ prompt: 'and now', sessionId })

    const runs = await Promise.all([first, second, third].map((id) => world.getRun(id)))
    for (const run of runs) expect(run.costUsd).toBeCloseTo(sumOf(run), 10)
    const total = runs.reduce((usd, { costUsd }) => usd + (costUsd ?? Number.NaN), 0)
    expect(runs.map((run) => run.sessionId)).toEqual([sessionId, sessionId, sessionId])
    expect(await sessionOf(sessionId)).toMatchObject({ costUsd: expect.closeTo(total, 10) })
    expect(await world.api<Stats>('GET', '/api/stats')).toMatchObject({ costUsd: expect.closeTo(total, 10) })
    const rate = (runs[2]?.costUsd ?? Number.NaN) / billed(seen)
    expect(total / (rate * billed())).toBeCloseTo(1, 2)
  },
)

it('an agent killed before its transcript exists starts a second session, and each session costs its own attempts', async () => {
  world = await World.create(scenario)
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'begin' })
  await world.simulator.waitForHold('sentence')
  await printedAll()
  const before = (await world.getRun(id)).sessionId ?? ''
  await world.killDaemon()
  killAgent()
  await until(() => !findAgent(), 'the end of the agent')
  // The CLI may have written its transcript by now; on a busy machine it is often killed before.
  rmSync(join(world.configDir, 'projects'), { recursive: true, force: true })
  await world.startDaemon()
  const run = await world.settled(id)

  expect(run.attempts).toMatchObject([
    { resumed: false, freshReason: 'first-run' },
    { resumed: false, freshReason: 'transcript-missing', carry: 'handoff' },
  ])
  expect(world.simulator.requests({ kind: 'main' }).at(-1)?.userText).toContain(LONG.trim())
  expect(run.sessionId).not.toBe(before)
  expect(run.costUsd).toBeCloseTo(sumOf(run), 10)
  const [first, second] = run.attempts
  expect(await sessionOf(before)).toMatchObject({ costUsd: expect.closeTo(first?.costUsd ?? Number.NaN, 10) })
  expect(await sessionOf(run.sessionId ?? '')).toMatchObject({
    costUsd: expect.closeTo(second?.costUsd ?? Number.NaN, 10),
  })
  expect(await world.api<Stats>('GET', '/api/stats')).toMatchObject({
    costUsd: expect.closeTo(run.costUsd ?? Number.NaN, 10),
  })
})

it('a run that ended before its price was known gets its cost as soon as another run reports the price', async () => {
  world = await World.create(scenario)
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'begin', maxResumes: 0 })
  await world.simulator.waitForHold('sentence')
  await printedAll()
  killAgent()
  expect(await world.settled(id)).toMatchObject({ outcome: 'crashed', costUsd: null })
  const other = await world.run({ prompt: 'something else' })
  const priced = await world.getRun(id)
  expect(priced.costUsd).toBeGreaterThan(0)
  expect(priced.costUsd).toBeCloseTo(sumOf(priced), 10)
  const total = (priced.costUsd ?? 0) + (other.costUsd ?? 0)
  expect(await world.api<Stats>('GET', '/api/stats')).toMatchObject({ costUsd: expect.closeTo(total, 10) })
})
