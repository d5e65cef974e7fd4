/**
 * A conversation of twenty turns on the real CLI: resumed, against the same turns sent with the whole history each
 * time (the same CLI, whose --help is made to hide --resume). Tokens as the simulator counts and caches them; nothing
 * here depends on time, so one conversation a side is enough.
 */
import type { RunDetail } from '../../src/contract/run.ts'
import { loggingAgent } from '../../test/support/agents.ts'
import { Chat } from '../../test/support/chat.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure } from '../figure.ts'

interface Shape {
  name: string
  question: string
  answer: string
}

/** What is output costs the same on both sides, so how much resuming saves depends on who talks more. */
const SHAPES: readonly Shape[] = [
  {
    name: 'long questions (a pasted log), short answers',
    question:
      'ERROR 2026-01-01T00:00:00Z worker 7: connection reset by peer while reading response header. '.repeat(
        40,
      ),
    answer: 'The connection is reset because the upstream closes idle connections first. '.repeat(8),
  },
  {
    name: 'pasted files (12 kB), short answers',
    question:
      'export function handle(request: Request): Response { return route(request) } // as it is now\n'.repeat(
        130,
      ),
    answer: 'The handler should close over the router instead of looking it up each time. '.repeat(8),
  },
  {
    name: 'short questions, long answers',
    question: 'Please look into this part of the code as well and tell me what you think of it. '.repeat(4),
    answer: 'Here is what I found in that part, and why I think it should be changed in this way. '.repeat(
      24,
    ),
  },
]

export const chat: Benchmark = {
  name: 'chat',
  about:
    'Twenty turns of one conversation, resumed ÷ sent with the whole history each turn: input tokens not read from the cache, cost, and characters we sent.',
  run: async ({ short }) => {
    const figures: Figure[] = []
    for (const shape of short ? SHAPES.slice(0, 1) : SHAPES)
      figures.push(...(await compare(shape, short ? 4 : 20)))
    return figures
  },
}

async function compare(shape: Shape, turns: number): Promise<Figure[]> {
  const [resumed, transcript] = [
    await converse(shape, turns, ''),
    await converse(shape, turns, 's/--resume/--reprise/g'),
  ]
  const last = (side: Turn[]) => side.at(-1) ?? NOTHING
  const sum = (side: Turn[], key: keyof Turn) => side.reduce((total, turn) => total + turn[key], 0)
  const of = (what: string) => `${what}; ${shape.name}`
  return [
    figure(of(`uncached input of turn ${turns}`), '×', [last(resumed).uncached / last(transcript).uncached], {
      most: 0.05,
    }),
    figure(of('cost of the conversation'), '×', [sum(resumed, 'cost') / sum(transcript, 'cost')], {
      most: 0.25,
    }),
    figure(of(`resumed turn ${turns} ÷ turn 2, uncached input`), '×', [
      last(resumed).uncached / (resumed[1] ?? NOTHING).uncached,
    ]),
    figure(of(`uncached input of turn ${turns}, resumed`), 'tokens', [last(resumed).uncached]),
    figure(of(`uncached input of turn ${turns}, whole history`), 'tokens', [last(transcript).uncached]),
    figure(of(`characters sent in turn ${turns}, resumed`), 'characters', [last(resumed).sent]),
    figure(of(`characters sent in turn ${turns}, whole history`), 'characters', [last(transcript).sent]),
  ]
}

interface Turn {
  uncached: number
  cost: number
  sent: number
}
const NOTHING: Turn = { uncached: 0, cost: 0, sent: 0 }

async function converse({ question, answer }: Shape, turns: number, help: string): Promise<Turn[]> {
  const world = await World.create({ name: 'chat', rules: [{ reply: answer }] })
  try {
    const agent = await loggingAgent(world, 'claude', help)
    await world.configure({ agents: { claude: { command: agent.command, model: 'haiku' } } })
    await world.startDaemon()
    const conversation = await Chat.create(world)
    const sides: Turn[] = []
    for (let n = 1; n <= turns; n++) {
      const run = await conversation.say(`${n}. ${question}`)
      if (run.outcome !== 'completed') throw new Error(`turn ${n}: ${run.outcome} ${run.message}`)
      sides.push(toTurn(run, world.simulator.requests().at(-1)?.userText ?? ''))
    }
    return sides
  } finally {
    await world.close()
  }
}

function toTurn({ usage, costUsd }: RunDetail, userText: string): Turn {
  return { uncached: usage.inputTokens + usage.cacheWriteTokens, cost: costUsd ?? 0, sent: userText.length }
}
