/**
 * Sessions that were also used by hand, on the real CLI: the turns by hand are imported into the conversation, and each
 * model request contains them exactly once, from the session or from Reprise.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import { sayByHand } from '../support/by-hand.ts'
import { Chat } from '../support/chat.ts'
import { transcriptOf } from '../support/transcripts.ts'
import { World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  const tool = { tool: 'Bash', input: { command: 'echo petrichor', description: 'x' } }
  world = await World.create({
    name: 'outside',
    rules: [
      {
        when: '/^by hand: look$/',
        reply: [{ text: 'I look.' }, tool, { await: 'results' }, { text: 'Seen by hand.' }],
      },
      { when: '/([a-z]+)$/', reply: 'Noted: $1' },
    ],
  })
  await world.startDaemon()
})
afterAll(() => world.close())

const sent = () => JSON.stringify(world.simulator.requests().at(-1)!.messages)
const count = (part: string) => sent().split(part).length - 1
const notesOf = async ({ id }: RunDetail) =>
  (await world.events(id)).flatMap((event) => (event.type === 'note' ? [event.text] : [])).join('\n')

it('turns by hand are imported into the conversation; the session continues and is sent nothing twice', async () => {
  const chat = await Chat.create(world)
  const { sessionId } = await chat.say('remember heliotrope')
  await sayByHand(world, sessionId!, 'by hand: look')
  const next = await chat.say('and obsidian')
  expect(next).toMatchObject({ outcome: 'completed', resumed: true, sessionId })
  expect(count('by hand: look')).toBe(1)
  expect(await notesOf(next)).toContain('1 turn was said in this session outside Reprise')

  expect(await chat.texts()).toEqual([
    'user: remember heliotrope',
    'claude: Noted: heliotrope',
    'user: by hand: look',
    'claude: I look.Seen by hand.',
    'user: and obsidian',
    'claude: Noted: obsidian',
  ])
  const { messages } = await chat.detail()
  expect(messages.map(({ turn, origin }) => [turn, origin])).toEqual([
    [1, 'reprise'],
    [1, 'reprise'],
    [2, 'outside'],
    [2, 'outside'],
    [3, 'reprise'],
    [3, 'reprise'],
  ])
  expect(messages[3]).toMatchObject({ agent: 'claude', runId: null })
  expect(messages[3]!.blocks).toEqual([
    { type: 'text', text: 'I look.' },
    expect.objectContaining({ type: 'tool-use', name: 'Bash' }),
    { type: 'tool-result', toolUseId: expect.any(String), isError: false, content: 'petrichor' },
    { type: 'text', text: 'Seen by hand.' },
  ])
  expect(await world.getRun(next.id)).toMatchObject({ turn: 3 })

  // A new session is given the turn, with a note where it was said. The turn is not imported a second time.
  await chat.say('all of it, granite', { forceFreshSession: true })
  expect((await chat.detail()).messages).toHaveLength(8)
  expect(sent()).toContain('outside Reprise')
  for (const words of ['by hand: look', 'Seen by hand.', 'petrichor']) expect(sent()).toContain(words)
})

it('a fork by hand is recognised: a new session gets the conversation, and the branch for information', async () => {
  const chat = await Chat.create(world)
  const { sessionId } = await chat.say('remember heliotrope')
  await chat.say('remember obsidian')
  const lines = readFileSync(transcriptOf(world.configDir, sessionId!), 'utf8').split('\n')
  const first = JSON.parse(lines.find((line) => line.includes('Noted: heliotrope'))!) as { uuid: string }
  await sayByHand(world, sessionId!, 'by hand, from there, schist', ['--resume-session-at', first.uuid])
  expect(sent()).not.toContain('obsidian')
  const next = await chat.say('and gneiss')
  expect(next).toMatchObject({ resumed: false, freshReason: 'transcript-forked', carry: 'transcript' })
  for (const words of ['remember heliotrope', 'remember obsidian', 'from there, schist', 'another branch']) {
    expect(sent()).toContain(words)
  }
  const origins = (await chat.detail()).messages.map(({ origin }) => origin)
  expect(origins.filter((origin) => origin === 'outside-branch')).toHaveLength(2)
  expect(await chat.say('go on, marble')).toMatchObject({ resumed: true, sessionId: next.sessionId })
  expect(count('from there, schist')).toBe(1)
})
