/**
 * Sessions that are exported, imported, forked, moved and rewound, on the real CLI: what the model was sent, what is
 * stored, what it costs.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RewoundJob } from '../../src/contract/checkpoint.ts'
import type { ConversationDetail } from '../../src/contract/conversation.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import type { SessionDetail } from '../../src/contract/session.ts'
import type { ForkedSession, ImportedSession, SessionMove } from '../../src/contract/session-transfer.ts'
import { Chat } from '../support/chat.ts'
import { jobEnds, runJob } from '../support/jobs.ts'
import { REPRISE, World } from '../support/world.ts'

const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })

let world: World
let other: World
beforeAll(async () => {
  world = await World.create({
    name: 'transfer',
    rules: [
      { when: '/^look/', reply: [bash('echo seen-by-tool'), { await: 'results' }, 'Saw ${toolResult}'] },
      { when: '/^wait/', reply: [{ hold: 'gate' }, 'Waited.'] },
      {
        when: '/^build the thing$/',
        reply: [bash('echo one > made'), { await: 'results' }, 'never'],
      },
      {
        when: 'interrupted',
        reply: [bash('cat made; echo two >> made'), { await: 'results' }, 'Found ${toolResult}'],
      },
      { reply: 'You said: ${user}' },
    ],
  })
  other = await World.create({ name: 'other', rules: [{ reply: 'Elsewhere: ${user}' }] })
  git('init', '-q', '-b', 'main')
  writeFileSync(join(world.workDir, 'tracked'), 'user\n')
  git('add', '.')
  git('-c', 'user.name=u', '-c', 'user.email=u@localhost', 'commit', '-qm', 'first')
  await Promise.all([world.startDaemon(), other.startDaemon()])
})
afterAll(() => Promise.all([world.close(), other.close()]))

const git = (...args: string[]) =>
  execFileSync('git', ['-C', world.workDir, ...args], {
    env: { ...world.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
  }).trim()

const cli = async (at: World, ...args: string[]) =>
  (await promisify(execFile)(REPRISE, args, { cwd: at.workDir, env: at.env })).stdout

const session = (at: World, id: string) => at.api<SessionDetail>('GET', `/api/sessions/${id}`)

/** Everything that the model could read in its last request about that session. */
const sent = (at: World, { sessionId }: Pick<RunDetail, 'sessionId'>) =>
  JSON.stringify(at.simulator.requests().findLast((r) => r.sessionId === sessionId)?.messages)

it('a session is exported, imported under another home and directory, and resumed there with its history', async () => {
  const first = await world.run({ prompt: 'remember heliotrope' })
  await world.run({ prompt: 'look around', sessionId: first.session!, permissions: 'allow' })
  const file = join(world.dir, 'session.gz')
  expect(await cli(world, 'sessions', 'export', first.session!, '-o', file)).toContain('Exported')
  // A disk that is full, as far as the command can tell: a file may not become larger than a few kilobytes.
  const full = promisify(execFile)(
    '/bin/sh',
    [
      '-c',
      `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`,
      REPRISE,
      'sessions',
      'export',
      first.session!,
      '-o',
      'full.gz',
    ],
    { cwd: world.dir, env: world.env },
  )
  await expect(full).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('no room') })
  expect(readdirSync(world.dir).filter((name) => name.includes('full.gz'))).toEqual([])

  const dir = await realpath(other.dir)
  const elsewhere = join(dir, 'elsewhere')
  await mkdir(elsewhere)
  const imported = JSON.parse(
    await cli(other, 'sessions', 'import', file, '--dir', elsewhere, '--json'),
  ) as ImportedSession
  expect(imported).toMatchObject({
    agentSessionId: first.sessionId,
    workDir: elsewhere,
    turns: 2,
    conversation: null,
  })
  const run = await other.run({
    prompt: 'what was the word?',
    sessionId: imported.session,
    workDir: elsewhere,
  })
  expect(run).toMatchObject({ outcome: 'completed', resumed: true, sessionId: first.sessionId })
  expect(sent(other, run)).toContain('You said: remember heliotrope')
  expect(sent(other, run)).toContain('seen-by-tool')
  // What was spent elsewhere is not counted here.
  const { costUsd, copiedFrom: origin } = await session(other, imported.session)
  expect(costUsd).toBeCloseTo(run.costUsd!, 10)
  const spent = (await session(world, first.session!)).costUsd
  expect(origin).toMatchObject({ kind: 'import', session: null })
  expect(origin?.costUsd).toBeCloseTo(spent, 6)

  expect(readdirSync(join(other.home, 'imports'))).toEqual([])
})

it('a conversation is exported with its messages, and goes on elsewhere', async () => {
  const chat = await Chat.create(world, { instructions: 'Speak plainly.' })
  await chat.say('beta')
  const { agents } = await chat.detail()
  const file = join(world.dir, 'chat.gz')
  await cli(world, 'sessions', 'export', agents[0]!.session!, '-o', file)
  const imported = JSON.parse(
    await cli(other, 'sessions', 'import', file, '--dir', other.workDir, '--json'),
  ) as ImportedSession
  const path = `/api/conversations/${imported.conversation}`
  const before = await other.api<ConversationDetail>('GET', path)
  expect(before).toMatchObject({ turnCount: 1, instructions: 'Speak plainly.', workDir: other.workDir })
  const { run } = await other.api<{ run: RunDetail }>('POST', `${path}/turns`, { text: 'gamma' })
  const done = await other.settled(run.id)
  expect(done).toMatchObject({ outcome: 'completed', resumed: true })
  const request = other.simulator.requests().findLast((r) => r.sessionId === done.sessionId)
  expect(request?.userText).toMatch(/gamma$/)
  expect(request?.userText).not.toContain('beta')
  expect(sent(other, done)).toContain('beta')
  const after = await other.api<ConversationDetail>('GET', path)
  expect(after.messages.map(({ role, turn }) => `${turn} ${role}`)).toEqual(
    [1, 2].flatMap((turn) => [`${turn} user`, `${turn} assistant`]),
  )
})

it('a session is forked at its end and at an earlier run; all go on alone, and the cost is counted once', async () => {
  const first = await world.run({ prompt: 'one' })
  const second = await world.run({ prompt: 'two', sessionId: first.session! })
  const path = `/api/sessions/${first.session}/fork`
  const whole = await world.api<ForkedSession>('POST', path)
  expect(whole.turns).toBe(2)

  // While it is used, its end is not known; an earlier point is.
  const { id } = await world.createRun({ prompt: 'wait for it', sessionId: first.session! })
  await world.simulator.waitForHold('gate')
  const refused = await world.request('POST', path, {})
  expect(refused.status).toBe(409)
  expect(await refused.text()).toContain(id)
  const early = await world.api<ForkedSession>('POST', path, { at: first.id })
  expect(early.turns).toBe(1)
  world.simulator.release('gate')
  const third = await world.settled(id)

  const [inWhole, inEarly] = await Promise.all(
    [whole, early].map(({ session }) => world.run({ prompt: `in ${session}`, sessionId: session })),
  )
  expect([third.resumed, inWhole!.resumed, inEarly!.resumed]).toEqual([true, true, true])
  expect([inWhole!.sessionId, inEarly!.sessionId]).toEqual([whole.agentSessionId, early.agentSessionId])
  expect(sent(world, inWhole!)).toContain('You said: two')
  expect(sent(world, inWhole!)).not.toContain('wait for it')
  expect(sent(world, inEarly!)).toContain('You said: one')
  expect(sent(world, inEarly!)).not.toContain('You said: two')

  const [original, ofWhole, ofEarly] = await Promise.all(
    [first.session!, whole.session, early.session].map((each) => session(world, each)),
  )
  expect(original!.costUsd).toBeCloseTo(first.costUsd! + second.costUsd! + third.costUsd!, 10)
  expect(ofWhole!.costUsd).toBeCloseTo(inWhole!.costUsd!, 10)
  expect(ofEarly!.costUsd).toBeCloseTo(inEarly!.costUsd!, 10)
  // The agent's own total goes on from what its past had cost, which belongs to the original.
  expect(ofWhole!.copiedFrom!.costUsd).toBeCloseTo(first.costUsd! + second.costUsd!, 8)
  expect(ofEarly!.copiedFrom!.costUsd).toBeCloseTo(first.costUsd!, 8)
  // A fork has its past also if its session is lost, and only that.
  const fresh = await world.run({ prompt: 'four', sessionId: early.session, forceFreshSession: true })
  expect(fresh).toMatchObject({ resumed: false, carry: 'transcript' })
  expect(sent(world, fresh)).toContain('You said: one')
  expect(sent(world, fresh)).not.toContain('You said: two')
})

it('a conversation is forked at a message, with a fork of its session', async () => {
  const chat = await Chat.create(world)
  await chat.say('red')
  await chat.say('green')
  const { id } = await chat.message(1)
  const fork = await world.api<ConversationDetail>('POST', `/api/conversations/${chat.id}/fork`, { at: id })
  expect(fork.messages).toHaveLength(2)
  const { run } = await world.api<{ run: RunDetail }>('POST', `/api/conversations/${fork.id}/turns`, {
    text: 'blue',
  })
  const done = await world.settled(run.id)
  expect(done).toMatchObject({ outcome: 'completed', resumed: true })
  expect(sent(world, done)).toContain('You said: red')
  expect(sent(world, done)).not.toContain('green')
  expect(await chat.texts()).toHaveLength(4)
})

it('a job is rewound to a checkpoint: files and session go back as a fork, and the old line is kept', async () => {
  const job = await runJob(world, {
    prompt: 'build the thing',
    permissions: 'allow',
    checkpoints: true,
    maxTurns: 1,
  })
  expect(job).toMatchObject({ state: 'paused', attention: 'turn-limit' })
  const made = join(world.workDir, 'made')
  const [start, middle] = job.checkpoints
  expect([start?.kind, middle?.kind, middle?.session]).toEqual(['start', 'agent', job.session])
  writeFileSync(made, 'somebody else\n')
  const rewind = (checkpoint: number) =>
    world.api<RewoundJob>('POST', `/api/jobs/${job.id}/rewind`, { checkpoint })

  // A retry continues in the fork, and is not told of what was undone.
  const back = await rewind(middle!.number)
  expect(readFileSync(made, 'utf8')).toBe('one\n')
  expect(git('show', `refs/reprise/${job.id}/${back.saved}:made`)).toBe('somebody else')
  await world.api('POST', `/api/jobs/${job.id}/retry?maxTurns=7`)
  const later = await jobEnds(world, job.id)
  expect(later).toMatchObject({ state: 'completed', session: back.session })
  expect(later.resultText).toContain('Found one')
  expect(sent(world, later)).toContain('echo one > made')
  expect(sent(world, later)).not.toContain('somebody else')
  expect(readFileSync(made, 'utf8')).toBe('one\ntwo\n')

  // The same point can be gone back to again, also when the job is done.
  const again = await rewind(middle!.number)
  expect(readFileSync(made, 'utf8')).toBe('one\n')
  const run = await world.run({ prompt: 'what now?', sessionId: again.session! })
  expect(run.resumed).toBe(true)
  expect(sent(world, run)).toContain('echo one > made')
  expect(sent(world, run)).not.toContain('echo two')
  for (const id of [job.session!, back.session!])
    expect(await session(world, id)).toMatchObject({ transcript: { state: 'present' } })

  expect((await rewind(start!.number)).session).toBeNull()
  expect(existsSync(made)).toBe(false)
})

it('a session moves to a new worktree, and is resumed there', async () => {
  const first = await world.run({ prompt: 'here we are' })
  const tree = join(world.dir, 'worktree')
  git('worktree', 'add', '-q', tree)
  const stays = cli(world, 'sessions', 'move', first.session!, '--dir', tree)
  await expect(stays).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  const moved = JSON.parse(
    await cli(world, 'sessions', 'move', first.session!, '--dir', tree, '--yes', '--json'),
  ) as SessionMove
  expect(moved).toMatchObject({ from: world.workDir, to: tree, same: false })
  const run = await world.run({ prompt: 'and now?', sessionId: first.session!, workDir: tree })
  expect(run).toMatchObject({ resumed: true, sessionId: first.sessionId })
  expect(sent(world, run)).toContain('You said: here we are')
})
