/**
 * A conversation of twenty turns on the real CLI: resumed, against the same turns sent with the whole history each
 * time (the same CLI, whose --help is made to hide --resume). Tokens as the simulator counts and caches them; nothing
 * here depends on time, so one conversation a side is enough.
 */
import { readdirSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { RunDetail } from '../../src/contract/run.ts'
import type { RequestRecord } from '../../src/simulator/request-record.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { loggingAgent } from '../../test/support/agents.ts'
import { Chat } from '../../test/support/chat.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure } from '../figure.ts'

interface Shape {
  name: string
  /** Of turn n, from 1. */
  question: (n: number) => string
  rules: readonly RuleInput[]
  /** Copied to the work directory. */
  files?: readonly string[]
}

const SOURCES = resolve(import.meta.dirname, '../../src')
const TURNS = 20

/** A project to talk about: our own. The first files by name, as long as they are; none is picked. */
const projectFiles = () =>
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .slice(0, TURNS)

const says = (answer: string): RuleInput[] => [{ reply: answer }]
const PARAGRAPH = 'The handler should close over the router instead of looking it up each time. '.repeat(8)

/** What is output costs the same on both sides, so how much resuming saves depends on who talks more: decision 12. */
const SHAPES: readonly Shape[] = [
  {
    name: 'long questions (a pasted log), short answers',
    question: (n) =>
      `${n}. ${'ERROR 2026-01-01T00:00:00Z worker 7: connection reset by peer while reading response header. '.repeat(40)}`,
    rules: says('The connection is reset because the upstream closes idle connections first. '.repeat(8)),
  },
  {
    name: 'pasted files (12 kB), short answers',
    question: (n) =>
      `${n}. ${'export function handle(request: Request): Response { return route(request) } // as it is now\n'.repeat(130)}`,
    rules: says(PARAGRAPH),
  },
  {
    name: 'short questions, long answers',
    question: (n) =>
      `${n}. ${'Please look into this part of the code as well and tell me what you think of it. '.repeat(4)}`,
    rules: says(
      'Here is what I found in that part, and why I think it should be changed in this way. '.repeat(24),
    ),
  },
  {
    name: 'short questions, the agent reads a file each, short answers',
    question: (n) => `What does ${projectFiles()[n - 1]} do, and what would you change in it?`,
    files: projectFiles(),
    rules: [
      {
        // The last one: a transcript has the earlier questions too.
        when: '/[\\s\\S]*What does (\\S+) do/',
        reply: [{ tool: 'Read', input: { file_path: '$1' } }, { await: 'results' }, { text: PARAGRAPH }],
      },
    ],
  },
]

export const chat: Benchmark = {
  name: 'chat',
  about:
    'Twenty turns of one conversation, resumed ÷ sent with the whole history each turn: input tokens not read from the cache, cost, and characters we sent.',
  run: async ({ short }) => {
    const figures: Figure[] = []
    for (const shape of short ? SHAPES.slice(0, 1) : SHAPES)
      figures.push(...(await compare(shape, short ? 2 : TURNS)))
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
    figure(of(`cost of turn ${turns}`), '×', [last(resumed).cost / last(transcript).cost]),
    figure(of(`resumed turn ${turns} ÷ turn 2, uncached input but for what was read`), '×', [
      carried(last(resumed)) / carried(resumed[1] ?? NOTHING),
    ]),
    figure(of(`uncached input of turn ${turns}, resumed`), 'tokens', [last(resumed).uncached]),
    figure(of(`uncached input of turn ${turns}, whole history`), 'tokens', [last(transcript).uncached]),
    figure(of(`characters sent in turn ${turns}, resumed`), 'characters', [last(resumed).sent]),
    figure(of(`characters sent in turn ${turns}, whole history`), 'characters', [last(transcript).sent]),
  ]
}

interface Turn {
  uncached: number
  /** Tokens of what tools returned in it: new on both sides, and as long as the file is. */
  read: number
  cost: number
  sent: number
}
const NOTHING: Turn = { uncached: 0, read: 0, cost: 0, sent: 0 }
const carried = (turn: Turn) => turn.uncached - turn.read

async function converse({ question, rules, files }: Shape, turns: number, help: string): Promise<Turn[]> {
  const world = await World.create({ name: 'chat', rules: [...rules] })
  try {
    for (const path of files ?? []) {
      await mkdir(join(world.workDir, dirname(path)), { recursive: true })
      await copyFile(join(SOURCES, path), join(world.workDir, path))
    }
    const agent = await loggingAgent(world, 'claude', help)
    await world.configure({ agents: { claude: { command: agent.command, model: 'haiku' } } })
    await world.startDaemon()
    const conversation = await Chat.create(world)
    const sides: Turn[] = []
    for (let n = 1; n <= turns; n++) {
      const seen = world.simulator.requests().length
      const run = await conversation.say(question(n))
      if (run.outcome !== 'completed') throw new Error(`turn ${n}: ${run.outcome} ${run.message}`)
      sides.push(toTurn(run, world.simulator.requests().slice(seen)))
    }
    return sides
  } finally {
    await world.close()
  }
}

function toTurn({ usage, costUsd }: RunDetail, requests: readonly RequestRecord[]): Turn {
  const results = requests.flatMap((request) => request.toolResults)
  return {
    uncached: usage.inputTokens + usage.cacheWriteTokens,
    read: results.reduce((sum, { text }) => sum + JSON.stringify(text).length / CHARS_A_TOKEN, 0),
    cost: costUsd ?? 0,
    sent: requests.at(-1)?.userText.length ?? 0,
  }
}

/** As the simulator counts, on what is sent: a result as JSON. */
const CHARS_A_TOKEN = 4
