/** Lines that are typed in a chat while a turn runs, on a terminal in memory and with the engine double. */
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RepriseError } from '../../src/contract/errors.ts'
import type { RunId } from '../../src/contract/ids.ts'
import type { RunMessage } from '../../src/contract/run-message.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'
import { type ChatDouble, KEYS, openChat } from './terminal-double.ts'

const { enter, ctrlC, ctrlD } = KEYS
const PROMPT = 'claude › '

let cli: CliDouble
let chat: ChatDouble
/** Every request to say something: the run, its key and the text. */
let said: { runId: RunId; key: string | null; text: string }[]
let state: Pick<RunMessage, 'state' | 'nextRunId'>

beforeEach(async () => {
  cli = await createCliDouble()
  said = []
  state = { state: 'waiting', nextRunId: null }
  cli.engine.say = async (runId, { text }, key) => {
    said.push({ runId, key, text })
    const saidAt = new Date().toISOString()
    return { id: `id of ${text}`, text, from: null, saidAt, readAt: null, ...state }
  }
  chat = await openChat([], {
    env: { HOME: dirname(cli.home), REPRISE_HOME: cli.home, TERM: 'xterm' },
    cwd: cli.workDir,
  })
  await chat.shows(PROMPT)
})
afterEach(() => cli.close())

const newestRun = async () => (await cli.engine.listRuns({ limit: 100 })).items.at(-1)!.id
/** Starts a turn that has shown its first words. */
async function startTurn(): Promise<RunId> {
  chat.type(`begin${enter}`)
  await chat.shows('begin')
  await expect.poll(async () => (await cli.engine.listRuns({ limit: 100 })).items.length).toBe(1)
  const id = await newestRun()
  cli.engine.emit(id, { type: 'text-delta', text: 'Working.\n' })
  await chat.shows('Working.')
  return id
}
const leave = async () => {
  await chat.shows(PROMPT)
  chat.type(ctrlD)
  expect(await chat.code).toBe(0)
}

test('a line is said to the run, once; what is typed is shown, and what was not sent is in the prompt', async () => {
  const id = await startTurn()
  chat.type('use stagingg')
  await chat.shows('› use stagingg▏')
  chat.type(`\u007f${enter}`)
  await chat.shows('› use staging\n')
  await chat.shows('passed on; the agent reads it after its current step')
  cli.engine.emit(id, { type: 'message', messageId: 'id of use staging', text: 'use staging' })
  await chat.shows('read a message from the user: use staging')
  chat.type('and th')
  await chat.shows('› and th▏')
  cli.engine.settle(id)
  await chat.shows(`${PROMPT}`)
  await chat.shows('and th')
  expect(said).toEqual([{ runId: id, key: expect.any(String), text: 'use staging' }])
  // The draft is still there, and can be continued.
  chat.type(`en${enter}`)
  await expect
    .poll(async () => (await cli.engine.listRuns({ limit: 100 })).items.at(-1)?.prompt)
    .toBe('and then')
  cli.engine.settle(await newestRun())
  await leave()
})

test('one that came too late is the next turn, which is followed without a prompt', async () => {
  const id = await startTurn()
  chat.type(`too late${enter}`)
  await chat.shows('passed on')
  const next = cli.engine.addRun({ prompt: 'too late', conversationId: null })
  state = { state: 'turn', nextRunId: next.id }
  cli.engine.settle(id)
  const between = await chat.shows('next turn, typed before: too late')
  expect(between).not.toContain(PROMPT)
  cli.engine.emit(next.id, { type: 'text-delta', text: 'To what came late.\n' })
  await chat.shows('To what came late.')
  cli.engine.settle(next.id)
  await leave()
  expect(new Set(said.map(({ key, runId, text }) => [key, runId, text].join()))).toHaveLength(1)
})

test('one that could not be sent is sent again by the same key; a cancelled turn says what was not read', async () => {
  const id = await startTurn()
  const { say } = cli.engine
  cli.engine.say = async (...request) => {
    await say(...request)
    throw new RepriseError('conflict', 'the disk is full')
  }
  chat.type(`are you there${enter}`)
  await chat.shows('could not be passed on: the disk is full')
  cli.engine.say = say
  state = { state: 'missed', nextRunId: null }
  cli.engine.settle(id)
  await chat.shows('the agent has not read: are you there')
  await leave()
  expect(said).toHaveLength(2)
  expect(said[0]).toEqual(said[1])
})

test('commands work during a turn, and those that change the history follow it', async () => {
  const id = await startTurn()
  chat.type(`/model opus${enter}`)
  await chat.shows('the next turns use opus')
  chat.type(`/nonsense${enter}`)
  await chat.shows('error: unknown command /nonsense')
  chat.type(`/drop 9${enter}`)
  await chat.shows('this follows when the turn has ended')
  let cancelled = 0
  const { cancel } = cli.engine
  cli.engine.cancel = async (run) => {
    cancelled++
    return cancel(run)
  }
  chat.type(`/stop${enter}`)
  await chat.shows('cancelling the run')
  chat.type(`/stop${enter}`)
  await chat.shows('› /stop')
  await expect.poll(() => cancelled).toBe(1)
  cli.engine.settle(id)
  await chat.shows('there is no message 9')
  await leave()
  expect(said).toEqual([])
})

test('Ctrl-C cancels the turn also while a line is typed', async () => {
  const id = await startTurn()
  chat.type('half')
  await chat.shows('half▏')
  chat.type(ctrlC)
  await chat.shows('cancelling the run')
  cli.engine.settle(id)
  await chat.shows(PROMPT)
  await chat.shows('half')
  chat.type(ctrlC)
  await leave()
  expect(said).toEqual([])
})

test.each([`/quit${enter}`, ctrlD])(
  '%j leaves after what was typed was sent, and the turn continues',
  async (keys) => {
    const id = await startTurn()
    chat.type(`one more thing${enter}`)
    await chat.shows('› one more thing\n')
    chat.type(keys)
    expect(await chat.code).toBe(0)
    expect(said).toMatchObject([{ runId: id, text: 'one more thing' }])
    expect(chat.screen()).toContain('Continue with: reprise chat cnv_')
    expect((await cli.engine.getRun(id)).state).toBe('running')
  },
)

test('while a question is open, what is typed answers it; the line begun before waits', async () => {
  const id = await startTurn()
  chat.type('by the w')
  await chat.shows('by the w▏')
  const asked = { toolUseId: 'toolu_1', requestId: 'req_1', tool: 'Bash', input: { command: 'make' } }
  const { getRun } = cli.engine
  const pending = [{ ...asked, kind: 'permission', askedAt: new Date().toISOString() }] as never
  cli.engine.getRun = async (run) => ({ ...(await getRun(run)), pending })
  cli.engine.emit(id, { type: 'permission-ask', via: 'prompt', ...asked })
  await chat.shows('allow?')
  chat.type(`y${enter}`)
  await expect.poll(() => cli.engine.answers.length).toBe(1)
  await chat.shows('by the w▏')
  cli.engine.getRun = getRun
  chat.type(`ay${enter}`)
  await chat.shows('passed on')
  expect(said).toMatchObject([{ text: 'by the way' }])
  state = { state: 'read', nextRunId: null }
  cli.engine.settle(id)
  await leave()
})
