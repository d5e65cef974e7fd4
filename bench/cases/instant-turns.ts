/**
 * A turn of a conversation ÷ `claude -p --resume` with the same text: in a process that was kept, in one that was started
 * ahead, and in a new one. Each is measured to the first request to the model, and to the result. Also the memory of four
 * conversations whose processes wait, and whether it is given back.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Status } from '../../src/contract/http.ts'
import { runByHand } from '../../test/support/by-hand.ts'
import { Chat } from '../../test/support/chat.ts'
import { until, World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'

const RULES = { name: 'instant', rules: [{ reply: 'Something.' }] }
const CONVERSATIONS = 4

interface Times {
  request: number[]
  result: number[]
}

export const instantTurns: Benchmark = {
  name: 'instant-turns',
  about:
    'From POST …/turns until run-end is received ÷ `claude -p --resume` until it has exited, on the same simulator; and to the first model request.',
  run: async ({ short }) => {
    const warm = await World.create(RULES, { conversations: { keepWarm: '10m' } })
    const cold = await World.create(RULES)
    try {
      await warm.startDaemon()
      await cold.startDaemon()
      const [keptChat, aheadChat] = [await Chat.create(warm), await Chat.create(warm)]
      const coldChat = await Chat.create(cold)
      for (const chat of [keptChat, aheadChat, coldChat]) await chat.say('begin')
      const bareSession = await startBare(cold)
      const times: Record<string, Times> = {}
      const timed = (name: string, world: World, work: () => Promise<unknown>) => async () => {
        world.simulator.reset()
        const [from, fromDate] = [performance.now(), Date.now()]
        await work()
        const tookMs = performance.now() - from
        const [first] = world.simulator.requests({ kind: 'main' })
        const of = (times[name] ??= { request: [], result: [] })
        of.result.push(tookMs)
        of.request.push((first?.at.getTime() ?? Number.NaN) - fromDate)
        return tookMs
      }
      const ahead = timed('ahead', warm, () => aheadChat.say('and now?'))
      await interleave(
        {
          bare: timed('bare', cold, () => runByHand(cold, ['--resume', bareSession], 'and now?').answered),
          kept: timed('kept', warm, () => keptChat.say('and now?')),
          ahead: async () => {
            await startAhead(warm, aheadChat)
            return ahead()
          },
          cold: timed('cold', cold, () => coldChat.say('and now?')),
        },
        short ? 1 : 15,
        { cold: true },
      )
      const of = (name: string) => times[name] ?? { request: [], result: [] }
      const against = (name: string, what: keyof Times) => ratios(of(name)[what], of('bare')[what])
      return [
        figure('kept ÷ bare, to the result', '×', against('kept', 'result'), { most: 0.15 }),
        figure('kept ÷ bare, to the first request', '×', against('kept', 'request'), { most: 0.15 }),
        figure('started ahead ÷ bare, to the result', '×', against('ahead', 'result'), { most: 0.35 }),
        figure('started ahead ÷ bare, to the first request', '×', against('ahead', 'request'), {
          most: 0.35,
        }),
        figure('cold ÷ bare, to the result', '×', against('cold', 'result'), { most: 1.05 }),
        figure('cold ÷ bare, to the first request', '×', against('cold', 'request'), { most: 1.05 }),
        figure('bare, to the result', 'ms', of('bare').result),
        ...(await measureMemory(warm)),
      ]
    } finally {
      await warm.close()
      await cold.close()
    }
  },
}

/** Returns the id of a session that only the CLI uses. */
async function startBare(world: World): Promise<string> {
  const id = crypto.randomUUID()
  await runByHand(world, ['--session-id', id], 'begin').answered
  return id
}

const keptOf = async (world: World, chat: Chat) =>
  (await world.api<Status>('GET', '/api/status')).kept.find(
    ({ conversationId }) => conversationId === chat.id,
  )

/** Ends the process that waits for the conversation, and has another one started, until it is ready. */
async function startAhead(world: World, chat: Chat): Promise<void> {
  const before = await keptOf(world, chat)
  if (before?.pid) process.kill(-before.pid, 'SIGKILL')
  await until(async () => !(await keptOf(world, chat)), 'the process to be given up')
  await world.api('POST', `/api/conversations/${chat.id}/warm`, {})
  const pid = (await keptOf(world, chat))?.pid
  const keeper = world.processes().find((one) => one.pid === pid)
  // An agent that is ready has answered the first message.
  await until(() => hasPrinted(keeper?.command ?? ''), 'the process to be ready')
}

function hasPrinted(command: string): boolean {
  const [folder] = /\S+\/spool\/att_\w+/.exec(command) ?? []
  try {
    return folder !== undefined && statSync(join(folder, 'out')).size > 0
  } catch {
    return false
  }
}

async function measureMemory(world: World) {
  const status = () => world.api<Status>('GET', '/api/status')
  for (let n = 0; n < CONVERSATIONS; n++) await (await Chat.create(world)).say('begin')
  const { kept } = await until(async () => {
    const now = await status()
    const isMeasured = now.kept.length <= CONVERSATIONS && now.kept.every((one) => one.memoryBytes !== null)
    return isMeasured ? now : null
  }, 'the processes to be measured')
  const bytes = kept.reduce((sum, { memoryBytes }) => sum + (memoryBytes ?? 0), 0)
  await world.killDaemon('SIGTERM')
  return [
    figure(`${kept.length} kept conversations`, 'MB', [bytes / 2 ** 20]),
    figure('processes left after the daemon was stopped', 'files', [world.processes().length], { most: 0 }),
  ]
}
