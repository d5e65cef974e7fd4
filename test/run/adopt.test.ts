/**
 * Sessions that a person made with the real CLI are taken over: their history becomes a conversation, and the next turn
 * resumes the session and sends only what is new. A live one is left alone.
 */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { FoundSession } from '../../src/contract/adopt.ts'
import type { ConversationDetail } from '../../src/contract/conversation.ts'
import type { Page } from '../../src/contract/http.ts'
import type { Run } from '../../src/contract/run.ts'
import type { SessionDetail } from '../../src/contract/session.ts'
import { runInside } from '../cli/inside.ts'
import { runByHand, sayByHand } from '../support/by-hand.ts'
import { until, World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  const tool = { tool: 'Bash', input: { command: 'echo petrichor', description: 'x' } }
  world = await World.create({
    name: 'adopt',
    rules: [
      { when: '/^look$/', reply: [{ text: 'I look.' }, tool, { await: 'results' }, { text: 'Seen.' }] },
      { when: '/^wait$/', reply: [{ hold: 'gate' }, { text: 'Waited.' }] },
      { when: '/([a-z]+)$/', reply: 'Noted: $1' },
    ],
  })
  await world.startDaemon()
})
afterAll(() => world.close())

const cli = (...args: string[]) => runInside(args, { env: world.env, cwd: world.workDir })

it('a session made by hand is listed, adopted with its history, and continued with only the new text', async () => {
  const id = randomUUID()
  await runByHand(world, ['--session-id', id], 'remember heliotrope').answered
  await sayByHand(world, id, 'look')

  const listed = await world.api<Page<FoundSession>>('GET', '/api/sessions/adoptable')
  expect(listed.items).toMatchObject([
    { agentSessionId: id, state: 'adoptable', firstPrompt: 'remember heliotrope', workDir: world.workDir },
  ])
  const shown = await cli('sessions', 'adopt')
  expect(shown).toMatchObject({ code: 0 })
  for (const part of [id, 'adoptable', 'KiB', world.workDir, 'remember heliotrope'])
    expect(shown.stdout).toContain(part)

  const adopted = await cli('sessions', 'adopt', id)
  expect(adopted).toMatchObject({ code: 0, stderr: '' })
  const [, session, conversation] =
    /adopted as (ses_\w+), 2 turns imported; continue with: reprise chat (cnv_\w+)/.exec(adopted.stdout) ?? []
  expect(await world.api<SessionDetail>('GET', `/api/sessions/${session}`)).toMatchObject({
    agentSessionId: id,
    state: 'paused',
    origin: 'adopted',
    turns: 2,
    messages: 4,
    stopReason: 'end_turn',
    agentVersion: expect.stringMatching(/^\d+\./),
    conversationId: conversation,
    transcript: { state: 'present' },
  })
  const { messages, title } = await world.api<ConversationDetail>('GET', `/api/conversations/${conversation}`)
  expect(title).toBe('remember heliotrope')
  expect(
    messages.map(({ role, origin, blocks }) => [role, origin, blocks.map((block) => block.type)]),
  ).toEqual([
    ['user', 'outside', ['text']],
    ['assistant', 'outside', ['text']],
    ['user', 'outside', ['text']],
    ['assistant', 'outside', ['text', 'tool-use', 'tool-result', 'text']],
  ])

  const { run } = await world.api<{ run: Run }>('POST', `/api/conversations/${conversation}/turns`, {
    text: 'and obsidian',
  })
  const next = await world.settled(run.id)
  expect(next).toMatchObject({ outcome: 'completed', resumed: true, sessionId: id, session, carry: 'none' })
  const request = world.simulator.requests({ kind: 'main' }).at(-1)!
  // A resumed turn of a chat has a note of Reprise before its text, and nothing of the past.
  expect(request.userText).toMatch(/^<reprise>\n[^\n]*\n<\/reprise>\nand obsidian$/)
  expect(request.userText).not.toContain('heliotrope')
  expect(JSON.stringify(request.messages).split('remember heliotrope')).toHaveLength(2)
  const notes = (await world.events(run.id)).filter((event) => event.type === 'note')
  expect(JSON.stringify(notes)).not.toContain('outside Reprise')

  const again = await cli('sessions', 'adopt', id)
  expect(again).toMatchObject({ code: 0 })
  expect(again.stdout).toContain(`skipped: Reprise knows it as ${session}`)
  const after = await world.api<ConversationDetail>('GET', `/api/conversations/${conversation}`)
  expect(after.messages).toHaveLength(6)
})

const hasTranscript = (id: string): boolean =>
  readdirSync(join(world.configDir, 'projects'), { recursive: true }).some((name) =>
    String(name).endsWith(`${id}.jsonl`),
  )

/** A live process writes a record of the session that it has open. */
function isRegistered(id: string): boolean {
  const folder = join(world.configDir, 'sessions')
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
    return names.some((name) => readFileSync(join(folder, name), 'utf8').includes(id))
  } catch {
    return false
  }
}

it('a session that a process has open is left alone, with its pid; afterwards it can be adopted', async () => {
  const id = randomUUID()
  const hand = runByHand(world, ['--session-id', id], 'wait')
  await world.simulator.waitForHold('gate')
  await until(() => isRegistered(id), 'the record of the live process')
  // The CLI asks the model before it writes its first line. Sessions without a file are not listed.
  await until(() => hasTranscript(id), 'its transcript')
  const refused = await cli('sessions', 'adopt', id)
  expect(refused).toMatchObject({ code: 1 })
  const [, pid] = /process (\d+) has it open/.exec(refused.stdout) ?? []
  expect(world.processes().map((process) => process.pid)).toContain(Number(pid))
  const others = await cli('sessions', 'adopt', '--all', '--json')
  expect(others.json()).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ agentSessionId: id, state: 'live', pid: Number(pid), session: null }),
    ]),
  })
  world.simulator.release('gate')
  await hand.answered
  expect((await cli('sessions', 'adopt', '--dir', '.', '--json')).json()).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ agentSessionId: id, state: 'adopted', turns: 1 }),
    ]),
  })
})

it('an adopted session expires and is archived; its file may then be deleted, and the next turn resumes it', async () => {
  const id = randomUUID()
  await runByHand(world, ['--session-id', id], 'remember obsidian').answered
  const { items } = (await cli('sessions', 'adopt', id, '--json')).json<{ items: FoundSession[] }>()
  const { session, conversationId, path } = items[0]!
  await world.killDaemon('SIGTERM')
  await world.configure({ session: { pauseAfter: '1ms', idleTimeout: '1ms' } })
  await world.startDaemon()
  const archived = await until(async () => {
    const found = await world.api<SessionDetail>('GET', `/api/sessions/${session}`)
    return found.archivedAt === null ? null : found
  }, 'the session to be archived')
  expect(archived.state).toBe('expired')
  rmSync(path!)
  const body = { text: 'and heliotrope' }
  const { run } = await world.api<{ run: Run }>('POST', `/api/conversations/${conversationId}/turns`, body)
  expect(await world.settled(run.id)).toMatchObject({ outcome: 'completed', resumed: true, sessionId: id })
  const sent = JSON.stringify(world.simulator.requests({ kind: 'main' }).at(-1)!.messages)
  expect(sent.split('remember obsidian')).toHaveLength(2)
})
