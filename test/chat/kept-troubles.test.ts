/**
 * Turns in kept processes that do not go as planned, on the real CLI: questions, permissions, turn limits, outages and rate limits
 * end as they do in a process of their own, and a process that was told to leave gets no turn, also across `kill -9`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Status } from '../../src/contract/http.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import { Chat } from '../support/chat.ts'
import { QUESTION } from '../support/question.ts'
import { until, World } from '../support/world.ts'

let world: World
let chat: Chat

beforeAll(async () => {
  const touch = { tool: 'Bash', input: { command: 'touch $1', description: 'touch' } }
  world = await World.create(
    {
      name: 'troubles',
      rules: [
        {
          when: '/^ask$/m',
          reply: [
            { tool: 'AskUserQuestion', input: { questions: [QUESTION] } },
            { await: 'results' },
            { text: 'Got: ${toolResult}' },
          ],
        },
        { when: '/^touch (.*)$/m', reply: [touch, { await: 'results' }, { text: 'Result: ${toolResult}' }] },
        { when: '/^error 500$/m', reply: [{ error: { status: 500, times: 2 } }, 'Answered.'] },
        { when: '/^overloaded$/m', reply: [{ error: { status: 529, times: 2 } }, 'Answered.'] },
        { when: '/^used up$/m', reply: [{ rateLimit: { resetsIn: '1h', times: 1 } }, 'Answered.'] },
        { reply: 'Noted: ${user}' },
      ],
    },
    {
      conversations: { keepWarm: '10m' },
      jobs: { backoff: '100ms' },
      run: { termAfter: '30s', killAfter: '1s' },
    },
  )
  // The CLI reports reset times only with a subscription.
  delete world.env.ANTHROPIC_API_KEY
  world.env.CLAUDE_CODE_OAUTH_TOKEN = 'made-up'
  await world.startDaemon()
})
afterAll(() => world.close())

/** Each test has a conversation whose process waits. */
beforeEach(async () => {
  chat = await Chat.create(world)
  await chat.say('one', ASK)
})

/** All turns have the permissions of the first one, so that they may be given to its process. */
const ASK = { permissions: 'ask' } as const

const status = () => world.api<Status>('GET', '/api/status')
const keptOf = async ({ id }: Chat) =>
  (await status()).kept.find(({ conversationId }) => conversationId === id)
/** The pid of the keeper, which leads the process group of the agent. */
const pidOf = async (of: Chat) => (await keptOf(of))?.pid ?? 0
const startsOf = async ({ id }: RunDetail) =>
  (await world.events(id)).flatMap((event) => (event.type === 'attempt-start' ? [event.kept === true] : []))

/** How often a text occurs in the newest history that the model was sent in the session. */
function countIn({ sessionId }: RunDetail, text: string): number {
  const last = world.simulator.requests({ kind: 'main' }).findLast((r) => r.sessionId === sessionId)
  return JSON.stringify(last?.messages ?? []).split(text).length - 1
}

async function answer(id: string, result: object): Promise<RunDetail> {
  await world.waitForEvent(id, ({ type }) => type === 'question-ask' || type === 'permission-ask')
  const [pending] = (await world.getRun(id)).pending
  await world.api('POST', `/api/runs/${id}/tool-result`, { toolUseId: pending?.toolUseId, ...result })
  return world.settled(id)
}

it('a question and permissions are answered in the kept process, which is kept again', async () => {
  const pid = await pidOf(chat)
  const asked = await answer((await chat.post('ask', ASK)).id, { answers: { 'Which colour?': 'Blue' } })
  expect(asked).toMatchObject({ outcome: 'completed', resultText: expect.stringContaining('Blue') })
  const refused = await answer((await chat.post('touch refused', ASK)).id, {
    decision: 'deny',
    message: 'not now',
  })
  expect(refused).toMatchObject({ outcome: 'completed', resultText: expect.stringContaining('not now') })
  const allowed = await answer((await chat.post('touch allowed', ASK)).id, { decision: 'allow' })
  expect(allowed).toMatchObject({ outcome: 'completed' })
  for (const run of [asked, refused, allowed]) expect(await startsOf(run)).toEqual([true])
  expect(['refused', 'allowed'].map((name) => existsSync(join(world.workDir, name)))).toEqual([false, true])
  expect(await keptOf(chat)).toMatchObject({ pid })
})

it('a question is still open when the daemon is killed: the next one delivers the answer to the process', async () => {
  const { id } = await chat.post('ask', ASK)
  await world.waitForEvent(id, ({ type }) => type === 'question-ask')
  await world.killDaemon()
  await world.startDaemon()
  const asked = await answer(id, { answers: { 'Which colour?': 'Blue' } })
  expect(asked).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  expect(await startsOf(asked)).toEqual([true])
  expect(await startsOf(await chat.say('two', ASK))).toEqual([true])
})

it('a turn with a limit has a process of its own; when the limit is reached, the next turn resumes the session', async () => {
  const { id } = await chat.post('touch paid', { ...ASK, maxTurns: 1 })
  const limited = await answer(id, { decision: 'allow' })
  expect(limited).toMatchObject({ outcome: 'turn-limit', resumed: true })
  expect(await startsOf(limited)).toEqual([false])
  expect(await keptOf(chat)).toBeUndefined()
  const next = await chat.say('two', ASK)
  expect(next).toMatchObject({ outcome: 'completed', attemptCount: 1, sessionId: limited.sessionId })
})

it.each(['error 500', 'overloaded'])(
  'an outage (%s): the kept process ends, and the turn is repeated in its session',
  async (text) => {
    const run = await chat.say(text, ASK)
    expect(run.attempts.map(({ outcome }) => outcome?.name)).toEqual(['outage', 'completed'])
    expect(await startsOf(run)).toEqual([true, false])
    expect(new Set(run.attempts.map(({ agentSessionId }) => agentSessionId)).size).toBe(1)
    expect(countIn(run, text)).toBe(1)
    expect(await startsOf(await chat.say('two', ASK))).toEqual([true])
  },
)

it('a limit: the turn waits without a process, and continues in its session', async () => {
  const pid = await pidOf(chat)
  const { id } = await chat.post('used up', ASK)
  await world.waitForEvent(id, ({ type }) => type === 'attempt-end')
  expect(await world.getRun(id)).toMatchObject({
    state: 'queued',
    attempts: [{ outcome: { name: 'rate-limited' } }],
  })
  expect(await keptOf(chat)).toBeUndefined()
  expect(world.processes().map((process) => process.pid)).not.toContain(pid)
  await world.api('POST', `/api/runs/${id}/continue`)
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'completed', resultText: 'Answered.', attemptCount: 2 })
  expect(countIn(run, 'used up')).toBe(1)
})

it('a daemon that is killed after it told the process to leave: the next one gives the turn to another process', async () => {
  const pid = await pidOf(chat)
  // The agent is stopped, so it has not left when the next daemon has the turn.
  process.kill(-pid, 'SIGSTOP')
  const changed = world.api('POST', `/api/conversations/${chat.id}/fork`, {}).catch(() => null)
  await until(() => isToldToLeave(), 'the message that ends the process')
  await world.killDaemon()
  await changed
  await world.startDaemon()
  const { id } = await chat.post('two', ASK)
  await Promise.race([
    until(() => world.log().includes('adopted a process that was being ended'), 'the process to be adopted'),
    world.waitForEvent(id, ({ type }) => type === 'attempt-start'),
  ])
  process.kill(-pid, 'SIGCONT')
  expect(await world.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1, resumed: true })
})

function isToldToLeave(): boolean {
  const spool = join(world.home, 'spool')
  const files = readdirSync(spool, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  return files.some(({ parentPath, name }) => {
    try {
      return readFileSync(join(parentPath, name), 'utf8').includes('"end_session"')
    } catch {
      return false
    }
  })
}
