/**
 * Follow-up turns on the real CLI: resumed with only the new text, or in a new session with the whole history. Each test
 * checks both the flag in argv and the text that the model was sent.
 */
import { mkdir, rename, rm, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import type { UpdatedConversation } from '../../src/contract/conversation.ts'
import type { RunDetail } from '../../src/contract/run.ts'
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
  world = await World.create({ name: 'echo', rules: [{ reply: 'Noted: ${user}' }] })
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

it('forced fresh', async () => {
  await begin()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  expectFresh(await chat.say('again', { forceFreshSession: true }), 'forced', 'remember heliotrope')
  expectResumed(await chat.say('and on'), 'remember heliotrope')
})

it('edited history', async () => {
  await begin()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  const before = await chat.detail()
  await chat.edit(0, 'remember heliotrope')
  expect(await chat.detail()).toEqual(before)
  await chat.edit(0, 'remember obsidian')
  const run = await chat.say('which word?')
  expect(run).toMatchObject({ resumed: false, freshReason: 'history-changed', carry: 'transcript' })
  expect(sent().text).toContain('remember obsidian')
  expect(sent().text).not.toContain('<user>\nremember heliotrope')
  expectResumed(await chat.say('and on'), 'remember obsidian')
})

it('truncated history: removed messages are not sent', async () => {
  await begin()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  await chat.say('remember obsidian')
  await chat.drop(2)
  expect(await chat.texts()).toHaveLength(2)
  expectFresh(await chat.say('which words?'), 'history-changed', 'remember heliotrope')
  expect(sent().text).not.toContain('obsidian')
})

it('retry from a message: the answer is replaced, in a session without the first answer', async () => {
  await begin()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  await chat.say('remember obsidian', { model: 'sonnet', permissions: 'ask', maxDurationMs: 60_000 })
  await chat.say('a third')
  const again = await chat.retry(2)
  expect(again).toMatchObject({ agent: 'claude', model: 'sonnet', permissions: 'ask' })
  expectFresh(again, 'history-changed', 'remember heliotrope')
  expect(sent().text.match(/obsidian/g)).toHaveLength(1)
  expect(sent().text).not.toContain('a third')
  expect((await chat.texts()).map((text) => text.split(':')[0])).toEqual(['user', 'claude', 'user', 'claude'])
})

it('another work directory; the same one by another name resumes', async () => {
  await begin()
  const link = join(world.dir, 'link')
  await symlink(world.workDir, link)
  const chat = await Chat.create(world, { workDir: link })
  await chat.say('remember heliotrope')
  await unlink(link)
  await symlink(join(world.dir, 'work', '..', 'work'), link)
  expectResumed(await chat.say('by another name'), 'remember heliotrope')
  await unlink(link)
  await symlink(world.dir, link)
  expectFresh(await chat.say('elsewhere'), 'other-work-dir', 'remember heliotrope')
})

it('a renamed project: after a move the session continues; in another directory a new session gets the history', async () => {
  await setUp()
  await world.startDaemon()
  const chat = await Chat.create(world)
  const { sessionId } = await chat.say('remember heliotrope')
  const renamed = join(world.dir, 'renamed')
  await rename(world.workDir, renamed)
  const refused = await world.request('POST', `/api/conversations/${chat.id}/turns`, { text: 'lost?' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain(`reprise conversations move ${chat.id}`)

  const path = `/api/conversations/${chat.id}`
  const plan = await world.api('GET', `${path}/move?workDir=${encodeURIComponent(renamed)}`)
  expect(plan).toMatchObject({ from: world.workDir, to: renamed, sessions: [{ resumes: true }] })
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

it('the executable replaced between turns', async () => {
  await setUp()
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  const other = await loggingAgent(world, 'other', 's/--fork-session/--fork-elsewhere/')
  await rename(other.command, agent.command)
  const run = await chat.say('with another')
  agent = { ...agent, resumed: other.resumed }
  expectFresh(run, 'other-runtime', 'remember heliotrope')
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

it('a claude that cannot resume is never asked to, and gets the whole history each turn', async () => {
  await setUp()
  agent = await loggingAgent(world, 'old', 's/--resume/--reprise/g')
  await configure({})
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  expectFresh(await chat.say('two'), 'no-resume-capability', 'remember heliotrope')
  expectFresh(await chat.say('three'), 'no-resume-capability', 'remember heliotrope')
  expect(sent().text).toContain('two')
  expect(agent.starts().flat().join(' ')).not.toContain('--resume')
})

it('a session that is too old', async () => {
  await setUp()
  await configure({ resume: { maxAge: '1ms' } })
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  expectFresh(await chat.say('later'), 'expired', 'remember heliotrope')
})

it('a transcript that is gone', async () => {
  await setUp()
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  await rm(join(world.configDir, 'projects'), { recursive: true })
  expectFresh(await chat.say('later'), 'transcript-missing', 'remember heliotrope')
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
const ways = sampleOf(REFUSALS, ([, script]) => [script.includes('kill') ? 'signal' : 'exit'])
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

it('an agent that is killed before it begins has not refused: its session is resumed', async () => {
  await begin()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  await agent.beforeTurn(`mkdir "${join(world.dir, 'killed')}" && kill -KILL $$`)
  const run = await chat.say('later')
  expectResumed(run, 'remember heliotrope')
  expect(run.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
    [true, 'crashed'],
    [true, 'completed'],
  ])
})

it('an agent that cannot be started at all does not cost the session', async () => {
  await begin()
  const first = await world.run({ prompt: 'remember heliotrope' })
  await agent.beforeTurn('exit 3')
  const run = await world.run({ prompt: 'later', sessionId: first.session!, maxResumes: 0 })
  await agent.beforeTurn(null)
  expect(run.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
    [true, 'session-missing'],
    [false, 'crashed'],
  ])
  const next = await world.run({ prompt: 'once more', sessionId: first.session! })
  expectResumed(next, 'remember heliotrope')
})

it('a resume that hangs before its first event: ended, then fresh with the history', async () => {
  await begin()
  const first = await world.run({ prompt: 'remember heliotrope' })
  await agent.beforeTurn(onResume('exec tail -f /dev/null'))
  const run = await world.run({ prompt: 'later', sessionId: first.session!, maxDurationMs: 12_000 })
  await agent.beforeTurn(null)
  expectFresh(run, 'refused', 'remember heliotrope')
  expect(run.attempts.map((a) => a.outcome?.name)).toEqual(['session-missing', 'completed'])
})

it('a resumed history that the model refuses: the same turn, fresh with the history', async () => {
  world = await World.create({
    name: 'refuses a resumed history once',
    rules: [
      { when: '/^remember/', reply: 'Noted: ${user}' },
      {
        when: '/later$/',
        reply: [
          { error: { status: 400, message: 'thinking blocks cannot be modified', times: 1 } },
          { text: 'Noted.' },
        ],
      },
    ],
  })
  agent = await loggingAgent(world)
  await configure({})
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  const run = await chat.say('later')
  expectFresh(run, 'poisoned', 'remember heliotrope')
  expect(run.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
    [true, 'api-error'],
    [false, 'completed'],
  ])
})
