/**
 * kill -9 of the agent, of the daemon, of both, at ten moments in the life of a job on the real CLI. Whatever is
 * killed: the job completes, the model was never asked the same thing twice, the tool ran once, money was counted once,
 * and no process is left.
 */
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { JobDetail } from '../../src/contract/job.ts'
import type { ScenarioInput } from '../../src/simulator/scenario-types.ts'
import { createJob, getJob, jobEnds } from '../support/jobs.ts'
import { pauseAt } from '../support/pause.ts'
import { sampleOf } from '../support/sample.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const PROMPT = 'begin the work'
const TOOL = 'echo ran >> mark; until [ -e finished ]; do sleep 0.05; done; echo through'
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })

const MOMENTS = [
  'before the first word',
  'in the middle of a sentence',
  'during the tool',
  'after the tool',
  'right after the result',
] as const
type Moment = (typeof MOMENTS)[number]

/** Thinks, works, looks at the result, and ends; it is held at the requested moment. */
function scenario(moment: Moment | null): ScenarioInput {
  const reply = (held: Moment | null) => {
    const holdAt = (at: Moment) => (at === held ? [{ hold: at }] : [])
    return [
      ...holdAt('before the first word'),
      { text: 'I begin.' },
      ...holdAt('in the middle of a sentence'),
      bash(TOOL),
      { await: 'results' as const },
      ...holdAt('after the tool'),
      'All done.',
    ]
  }
  return {
    name: 'kills',
    rules: [
      { when: '/^begin the work$/', times: 1, reply: reply(moment) },
      // If it was killed before the agent had recorded its prompt, it is asked again: there was no answer yet.
      { when: '/^begin the work$/', reply: reply(null) },
      // If it was killed before the tool began, the model is told to continue; after that, it is told what ran. The
      // same holds for a new session, which it gets if it was killed before the CLI wrote the session's transcript.
      { when: { user: 'interrupted', contains: ['echo ran'] }, reply: 'All done, after all.' },
      { when: 'interrupted', reply: [bash(TOOL), { await: 'results' }, 'All done, after all.'] },
    ],
  }
}

const letToolEnd = () => writeFile(join(world.workDir, 'finished'), '')

/** Resolves when the job is at that moment. */
async function reach(moment: Moment, runId: string): Promise<void> {
  if (moment === 'during the tool') {
    await until(() => existsSync(join(world.workDir, 'mark')), 'the tool')
    await world.waitForEvent(runId, (e) => e.type === 'tool-start')
    return
  }
  await letToolEnd()
  if (moment === 'right after the result') {
    await world.waitForEvent(runId, (e) => e.type === 'turn-end')
    return
  }
  await world.simulator.waitForHold(moment)
  if (moment === 'after the tool') await world.waitForEvent(runId, (e) => e.type === 'tool-end')
}

const agentPid = () =>
  world.processes().find((p) => /claude.* -p /.test(p.command) && !/keeper/.test(p.command))?.pid

function killAgent(): void {
  const pid = agentPid()
  try {
    if (pid) process.kill(pid, 'SIGKILL')
  } catch {
    // It ends by itself after its result, perhaps right now.
  }
}

async function check(job: JobDetail): Promise<void> {
  expect(job).toMatchObject({ state: 'completed', outcome: 'completed' })
  expect(job.resultText).toMatch(/^(I begin\.)?All done/)
  const { items } = await world.api<{ items: unknown[] }>('GET', '/api/jobs')
  expect(items).toHaveLength(1)
  // The tool ran once, although its outcome was not always known.
  expect(readFileSync(join(world.workDir, 'mark'), 'utf8')).toBe('ran\n')

  const requests = world.simulator
    .requests()
    .filter((r) => r.kind === 'main' && r.status === 200 && r.outcome === 'answered')
  const prompts = (r: (typeof requests)[number]) => JSON.stringify(r.messages).split(PROMPT).length - 1
  expect(requests.map(prompts).every((times) => times === 1)).toBe(true)
  const conversations = requests.map((r) => JSON.stringify(r.messages))
  expect(new Set(conversations).size).toBe(conversations.length)

  const events = (await Promise.all(job.runIds.map((id) => world.events(id)))).flat()
  expect(events.filter((e) => e.type === 'run-end')).toHaveLength(1)
  const sum = (of: (usage: NonNullable<(typeof requests)[number]['usage']>) => number | undefined) =>
    requests.reduce((total, { usage }) => total + ((usage && of(usage)) ?? 0), 0)
  expect(job.usage.outputTokens).toBeGreaterThanOrEqual(sum((u) => u.output_tokens))
  expect(job.costUsd).toBeGreaterThan(0)
  expect(world.processes()).toEqual([])
}

const VICTIMS = ['the agent', 'the daemon', 'both'] as const
const kills = sampleOf(
  VICTIMS.flatMap((victim) => MOMENTS.map((moment) => [victim, moment] as const)),
  (kill) => kill,
)

it.each(kills)('%s killed %s', async (victim, moment) => {
  world = await World.create(scenario(moment))
  await world.startDaemon()
  const { id, runId } = await createJob(world, { prompt: PROMPT, permissions: 'allow' })
  await reach(moment, runId)
  // The id was stored before the first byte of output.
  expect((await getJob(world, id)).sessionId).toMatch(/^[0-9a-f-]{36}$/)
  if (victim !== 'the agent') await world.killDaemon()
  if (victim !== 'the daemon') killAgent()
  await letToolEnd()
  // A killed agent never gets the reply that it waited for.
  if (victim === 'the daemon') world.simulator.release(moment)
  if (victim !== 'the agent') await world.startDaemon()
  await check(await jobEnds(world, id))
})

/** These moments are too short to be hit from outside: the daemon halts there, and is killed. */
describe('the daemon killed', () => {
  const writes = sampleOf(
    [
      ['after', 'admitJob'],
      ['before', 'startAttempt'],
      ['after', 'startAttempt'],
      ['before', 'markLaunched'],
      ['before', 'endAttempt'],
      ['after', 'endAttempt'],
    ],
    (write) => write,
  )
  it.each(writes)('%s %s', async (when, method) => {
    world = await World.create(scenario(null))
    await letToolEnd()
    const runId = await pauseAt(world, when, method, {
      job: { prompt: PROMPT, workDir: world.workDir, permissions: 'allow' },
    })
    await world.startDaemon()
    const { items } = await world.api<{ items: { id: string }[] }>('GET', '/api/jobs')
    expect(items).toHaveLength(1)
    const job = await jobEnds(world, items[0]?.id ?? '')
    if (runId) expect(job.runId).toBe(runId)
    await check(job)
  })
})
