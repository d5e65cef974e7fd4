/** Sessions that lose their files are restored from Reprise's copies; what a person deletes stays deleted. On the real CLI. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ErrorBody } from '../../src/contract/errors.ts'
import type { PruneReport } from '../../src/contract/prune.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import type { SessionDetail } from '../../src/contract/session.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Chat } from '../support/chat.ts'
import { until, World } from '../support/world.ts'

const rules: RuleInput[] = [
  { when: '/^look it up$/', reply: 'It is 42.' },
  {
    when: '/find out$/',
    reply: [
      {
        tool: 'Agent',
        input: { description: 'look', prompt: 'look it up', subagent_type: 'general-purpose' },
      },
      { await: 'results' },
      { text: 'Somebody looked it up.' },
    ],
  },
  { when: '/wait here$/', reply: [{ text: 'Waiting' }, { hold: 'gate' }, { text: ' is over.' }] },
  { reply: 'Noted.' },
]

let world: World
beforeAll(async () => {
  world = await World.create({ name: 'mirror', rules })
  await world.startDaemon()
})
afterAll(() => world.close())

const projects = () => join(world.configDir, 'projects')
const mirrorOf = ({ session }: Pick<RunDetail, 'session'>) => join(world.home, 'mirror', session ?? '')
/** Without those that the CLI is just writing. */
const filesIn = (dir: string) =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.includes('.tmp.'))
        .map(({ name }) => name)
    : []
/** Everything but the last message that the model was sent. */
const history = () =>
  JSON.stringify(
    world.simulator
      .requests()
      .findLast(({ kind }) => kind === 'main')!
      .messages.slice(0, -1),
  )
const newest = () => world.simulator.requests({ kind: 'main' }).at(-1)!.userText

it('a chat goes on in its session after the daemon was killed and all files of the agent are gone', async () => {
  const chat = await Chat.create(world)
  await chat.say('remember heliotrope')
  const before = await chat.say('find out', { permissions: 'allow' })
  const there = filesIn(projects())
  expect(there.filter((name) => name.endsWith('.jsonl')).length, 'the sub-agent has a file').toBeGreaterThan(
    1,
  )
  await world.killDaemon('SIGKILL')
  rmSync(world.configDir, { recursive: true, force: true })
  await world.startDaemon()
  const after = await chat.say('and now?')
  expect(after).toMatchObject({ outcome: 'completed', resumed: true, sessionId: before.sessionId })
  expect(history()).toContain('remember heliotrope')
  expect(history()).toContain('Somebody looked it up.')
  expect(newest()).not.toContain('heliotrope')
  expect(filesIn(projects()).toSorted()).toEqual(there.toSorted())
  const notes = (await world.events(after.id)).flatMap((event) => (event.type === 'note' ? [event.text] : []))
  expect(notes.join()).toContain('restored from')
})

it('a deleted session stays deleted: its chat starts a new one, with the history', async () => {
  const chat = await Chat.create(world)
  const first = await chat.say('remember saffron')
  const { transcript } = await world.api<SessionDetail>('GET', `/api/sessions/${first.session}`)
  const { id } = await chat.post('wait here')
  await world.simulator.waitForHold('gate')
  const refused = await world.request('DELETE', `/api/sessions/${first.session}`)
  expect([refused.status, ((await refused.json()) as ErrorBody).error.message]).toEqual([
    409,
    expect.stringContaining('in use'),
  ])
  world.simulator.release('gate')
  await world.settled(id)
  expect((await world.request('DELETE', `/api/sessions/${first.session}`)).status).toBe(204)
  expect([existsSync(transcript.path!), existsSync(mirrorOf(first))]).toEqual([false, false])
  expect((await world.request('GET', `/api/sessions/${first.session}`)).status).toBe(404)
  expect((await world.request('DELETE', `/api/sessions/${first.session}`)).status).toBe(404)
  const next = await chat.say('which colour?')
  expect(next).toMatchObject({ outcome: 'completed', resumed: false })
  expect(next.sessionId).not.toBe(first.sessionId)
  expect(newest()).toContain('remember saffron')
})

it('with a conversation its session goes, also if it is in use at that moment', async () => {
  const chat = await Chat.create(world)
  const first = await chat.say('remember ochre')
  const { transcript } = await world.api<SessionDetail>('GET', `/api/sessions/${first.session}`)
  const { id } = await chat.post('wait here')
  await world.simulator.waitForHold('gate')
  expect((await world.request('DELETE', `/api/conversations/${chat.id}`)).status).toBe(204)
  await world.settled(id)
  await until(() => !existsSync(transcript.path!) && !existsSync(mirrorOf(first)), 'the end of the session')
  expect((await world.request('GET', `/api/sessions/${first.session}`)).status).toBe(404)
  const report = await world.api<PruneReport>('POST', '/api/prune', { dryRun: true })
  expect(report).toMatchObject({ dryRun: true, items: [{ kind: 'runs', count: 2 }, { kind: 'events' }] })
  expect((await world.request('GET', `/api/runs/${first.id}`)).status, 'a dry run').toBe(200)
  const done = await world.api<PruneReport>('POST', '/api/prune')
  expect(done.items[0]).toEqual(report.items[0])
  expect((await world.request('GET', `/api/runs/${first.id}`)).status).toBe(404)
})
