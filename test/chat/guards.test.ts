/**
 * Follow-up turns on the real CLI: resumed with only the new text, or in a new session with the whole history. Each test
 * checks both the flag in argv and the text that the model was sent.
 */
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import type { UpdatedConversation } from '../../src/contract/conversation.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { type LoggingAgent, loggingAgent } from '../support/agents.ts'
import { Chat } from '../support/chat.ts'
import { sampleOf } from '../support/sample.ts'
import { makeUnusable, transcriptOf } from '../support/transcripts.ts'
import { World } from '../support/world.ts'

let world: World
let agent: LoggingAgent
/** Shared by all tests that change only their own conversation. */
let shared: { world: World; agent: LoggingAgent } | null = null
afterEach(() => (world === shared?.world ? undefined : world.close()))
afterAll(() => shared?.world.close())

async function setUp(): Promise<void> {
  const refused: RuleInput = {
    when: '/to be refused$/',
    reply: [
      { error: { status: 400, message: 'thinking blocks cannot be modified', times: 1 } },
      { text: 'Noted.' },
    ],
  }
  world = await World.create({ name: 'echo', rules: [refused, { reply: 'Noted: ${user}' }] })
  agent = await loggingAgent(world)
  await configure({})
}

async function begin(): Promise<void> {
  if (shared === null) {
    await setUp()
    await world.startDaemon()
    shared = { world, agent }
  }
  ;({ world, agent } = shared)
}

const configure = (config: object) =>
  world.configure({ agents: { claude: { command: agent.command, model: 'haiku' } }, ...config })

/** The newest user message as the model got it, and everything before it. */
function sent(): { text: string; before: string } {
  const request = world.simulator.requests().at(-1)!
  const index = request.messages.findLastIndex((message) => (message as { role: string }).role === 'user')
  return { text: request.userText, before: JSON.stringify(request.messages.slice(0, index)) }
}

function expectResumed(run: RunDetail, past: string): void {
  expect(run).toMatchObject({ outcome: 'completed', resumed: true, freshReason: null, carry: 'none' })
  expect(agent.resumed()).toBe(`--resume=${run.sessionId}`)
  expect(sent().text).not.toContain(past)
  expect(sent().before).toContain(past)
}

function expectFresh(run: RunDetail, reason: string, past: string): void {
  expect(run).toMatchObject({
    outcome: 'completed',
    resumed: false,
    freshReason: reason,
    carry: 'transcript',
  })
  expect(agent.resumed()).toBeUndefined()
  expect(sent().text).toContain(past)
  expect(sent().text).toContain(`Noted: ${past}`)
  expect(sent().before).not.toContain(past)
}

it('a follow-up turn resumes and sends only the new text, and says that earlier questions are answered', async () => {
  await begin()
  const chat = await Chat.create(world)
  const first = await chat.say('remember heliotrope')
  expect(first).toMatchObject({ resumed: false, freshReason: 'first-run', carry: 'none' })
  const second = await chat.say('and now something else')
  expectResumed(second, 'heliotrope')
  expect(sent().text).toMatch(/^<reprise>[^<]*answered[^<]*<\/reprise>\s+and now something else$/)
  expect(second.sessionId).toBe(first.sessionId)
  expect(second.usage.cacheReadTokens).toBeGreaterThan(0)
  expect(second.transcriptTokens!).toBeGreaterThan(first.transcriptTokens!)
  expect(await chat.texts()).toEqual([
    'user: remember heliotrope',
    'claude: Noted: remember heliotrope',
    'user: and now something else',
    expect.stringContaining('claude: Noted: '),
  ])
})

it('a renamed project: after a move the session continues; in another directory a new session gets the history', async () => {
  await begin()
  const project = join(world.dir, 'project')
  const renamed = join(world.dir, 'renamed')
  await mkdir(project)
  const chat = await Chat.create(world, { workDir: project })
  const { sessionId } = await chat.say('remember heliotrope')
  await rename(project, renamed)
  const refused = await world.request('POST', `/api/conversations/${chat.id}/turns`, { text: 'lost?' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain(`reprise conversations move ${chat.id}`)

  const path = `/api/conversations/${chat.id}`
  const plan = await world.api('GET', `${path}/move?workDir=${encodeURIComponent(renamed)}`)
  expect(plan).toMatchObject({ from: project, to: renamed, sessions: [{ resumes: true }] })
  expect(await world.api('PATCH', path, { workDir: renamed })).toMatchObject({ workDir: renamed, move: plan })
  const there = await chat.say('under another name')
  expectResumed(there, 'remember heliotrope')
  expect(there).toMatchObject({ workDir: renamed, sessionId })
  expect(await world.api('GET', `/api/sessions/${there.session}`)).toMatchObject({ workDir: renamed })

  const other = join(world.dir, 'other')
  await mkdir(other)
  const moved = await world.api<UpdatedConversation>('PATCH', path, { workDir: other })
  expect(moved.move?.sessions).toMatchObject([
    { resumes: false, why: expect.stringContaining('starts a new session') },
  ])
  const elsewhere = await chat.say('in another one')
  expect(elsewhere.workDir).toBe(other)
  expectFresh(elsewhere, 'other-work-dir', 'remember heliotrope')
})

it('an upgrade of the agent resumes; a version older than the one that wrote the session does not', async () => {
  await setUp()
  // Like installers do: a symlink to the folder of the newest version.
  const command = join(world.dir, 'claude-newest')
  const install = async (version: string) => {
    agent = await loggingAgent(world, `claude-${version}`, '', version)
    await rm(command, { force: true })
    await symlink(agent.command, command)
  }
  await install('2.1.325')
  await world.configure({ agents: { claude: { command, model: 'haiku' } } })
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  await install('2.1.326')
  const upgraded = await chat.say('with the next release')
  expectResumed(upgraded, 'remember heliotrope')
  expect(upgraded.attempts).toMatchObject([{ agentVersion: '2.1.326' }])
  const path = `/api/sessions/${upgraded.session}`
  expect(await world.api('GET', path)).toMatchObject({ agentVersion: '2.1.326' })
  await install('2.1.325')
  const downgraded = await chat.say('with the one before')
  expectFresh(downgraded, 'other-runtime', 'remember heliotrope')
  const notes = (await world.events(downgraded.id)).flatMap((e) => (e.type === 'note' ? [e.text] : []))
  expect(notes.join()).toContain('version 2.1.326; the agent is version 2.1.325 now, which is older')
})

it('a resume that the CLI refuses: the same turn, once more, fresh with the history', async () => {
  await begin()
  const chat = await Chat.create(world)
  const before = agent.starts().length
  const { sessionId } = await chat.say('remember heliotrope')
  makeUnusable(transcriptOf(world.configDir, sessionId!))
  const run = await chat.say('later')
  expectFresh(run, 'refused', 'remember heliotrope')
  expect(run.attemptCount).toBe(2)
  const starts = agent.starts().slice(before)
  expect(starts.map((argv) => argv.some((arg) => arg.startsWith('--resume=')))).toEqual([false, true, false])
  expectResumed(await chat.say('and on'), 'remember heliotrope')
})

const REFUSALS: [string, string][] = [
  ['with another exit code', 'echo "cannot load the session" >&2; exit 2'],
  ['without a word', 'exit 1'],
  ['in German', 'echo "Die Sitzung wurde nicht gefunden" >&2; exit 1'],
  ['by a crash', 'kill -SEGV $$'],
]
const onResume = (script: string) => `case "$*" in *--resume=*) ${script} ;; esac`
const ways = sampleOf(REFUSALS, () => ['refusal'])
it.each(ways)('a resume that is refused %s: fresh at once, and the history with it', async (_, script) => {
  await begin()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  await agent.beforeTurn(onResume(script))
  const run = await chat.say('later')
  await agent.beforeTurn(null)
  expectFresh(run, 'refused', 'remember heliotrope')
  expect(run.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
    [true, 'session-missing'],
    [false, 'completed'],
  ])
  expectResumed(await chat.say('and on'), 'remember heliotrope')
})

it('a resumed history that the model refuses: the same turn, fresh with the history', async () => {
  await begin()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  const run = await chat.say('to be refused')
  expectFresh(run, 'poisoned', 'remember heliotrope')
  expect(run.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
    [true, 'api-error'],
    [false, 'completed'],
  ])
})
