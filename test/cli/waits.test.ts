/** Whoever follows work that cannot start yet is told what it waits for, and what would end the wait. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Chat } from '../support/chat.ts'
import { World } from '../support/world.ts'
import { type Cli, createCli } from './cli.ts'

let world: World
let cli: Cli
let chat: Chat
beforeAll(async () => {
  world = await World.create(
    {
      rules: [
        { when: /HOLD$/, reply: [{ text: 'Thinking.' }, { hold: 'gate' }, { text: ' Went on.' }] },
        { reply: 'Noted.' },
      ],
    },
    { agents: { claude: { model: 'haiku', concurrency: 1 } } },
  )
  await world.startDaemon()
  cli = createCli(world.env)
  chat = await Chat.create(world)
})
afterAll(async () => {
  await cli.close()
  await world.close()
})

test('a chat behind another turn, and an investigation behind a busy agent', async () => {
  const { id } = await chat.post('HOLD')
  await world.simulator.waitForHold('gate')
  const next = cli.start(['chat', chat.id, '-m', 'second'])
  await next.says(
    `waits for run ${id}, which comes first in the same conversation or session; \`reprise attach ${id}\` shows it`,
  )
  const investigation = cli.start(['investigate', '--cwd', world.workDir, 'Is it up?'])
  await investigation.says(
    'waits for a free slot: 1 run is at work with claude (agents.claude.concurrency: 1); `reprise runs` lists them',
  )
  investigation.kill('SIGINT')
  await investigation.says('cancelled')
  expect((await investigation.result).code).toBe(130)
  world.simulator.release('gate')
  const { code, stdout } = await next.result
  expect([code, stdout]).toEqual([0, 'Noted.\n'])
})
