/**
 * A run that was asked to be in a sandbox speaks for the later runs of its session or conversation. This machine has no sandbox, so a run
 * that must be in one does not start.
 */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MemoryChat } from '../../support/memory/chat.ts'
import { answers } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

const REFUSED = expect.stringContaining('this run needs a sandbox')

it('holds for later turns of the conversation, also in a fresh session, until a turn says otherwise', async () => {
  const chat = await MemoryChat.create(stage)
  stage.play(answers('Noted.'), answers('Noted.'), answers('Noted.'))
  expect(await chat.say('outside')).toMatchObject({ outcome: 'completed' })
  expect(await chat.say('inside', { sandbox: true })).toMatchObject({ message: REFUSED })
  expect(await chat.say('still inside')).toMatchObject({ message: REFUSED })
  expect(await chat.say('in a new session', { forceFreshSession: true })).toMatchObject({ message: REFUSED })
  expect(await chat.say('outside again', { sandbox: false })).toMatchObject({ outcome: 'completed' })
  expect(await chat.say('still outside')).toMatchObject({ outcome: 'completed' })
  const other = await MemoryChat.create(stage)
  stage.play(answers('Noted.'))
  expect(await other.say('of another conversation')).toMatchObject({ outcome: 'completed' })
})

it('holds for later runs of the session', async () => {
  stage.play(answers('Noted.'), answers('Noted.'))
  const first = await stage.run({ prompt: 'outside' })
  const session = { sessionId: first.session! }
  expect(await stage.run({ prompt: 'inside', sandbox: true, ...session })).toMatchObject({ message: REFUSED })
  expect(await stage.run({ prompt: 'still inside', ...session })).toMatchObject({ message: REFUSED })
  expect(await stage.run({ prompt: 'of another session' })).toMatchObject({ outcome: 'completed' })
})
