/**
 * A conversation of twenty turns on the real CLI: resumed, compared with the same turns sent with the whole history
 * each time (the same CLI, with --resume hidden from its --help). Tokens are as the simulator counts and caches them;
 * nothing here depends on time, so one conversation per side is enough.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { RunDetail } from '../../src/contract/run.ts'
import type { RequestRecord } from '../../src/simulator/request-record.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { loggingAgent } from '../../test/support/agents.ts'
import { Chat } from '../../test/support/chat.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure, type Goal } from '../figure.ts'

interface Shape {
  name: string
  /** The goals that apply to this shape. Decision 12 explains why not all of them do. */
  goals: { uncached?: Goal; cost?: Goal }
  /** The question of turn n, from 1. */
  question: (n: number) => string
  rules: readonly RuleInput[]
  /** Copied to the work directory. */
  files?: readonly string[]
}

const SOURCES = resolve(import.meta.dirname, '../../src')
const TURNS = 20

/** A project to talk about: this one. The first files by name, whatever their length; none is picked by hand. */
const projectFiles = () =>
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .slice(0, TURNS)

/** All files of the feature that is measured here. */
const FEATURE = 'core/resume'
const featureFiles = () =>
  readdirSync(join(SOURCES, FEATURE))
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => `${FEATURE}/${name}`)

/** The end of the file shows that the whole file was sent: a transcript contains only its beginning. */
function endOf(path: string): string {
  const lines = readFileSync(join(SOURCES, path), 'utf8').split('\n')
  const last = lines.findLast((line) => line.length >= 40)
  if (!last) throw new Error(`${path} has no line by which it can be recognised`)
  return last.slice(-40)
}

/** A model that reads the files that it does not have, all at once if it has none, and then answers. */
function readsWhatItLacks(files: readonly string[], answer: string): RuleInput[] {
  const read = (path: string) => ({ tool: 'Read', input: { file_path: path } })
  return [
    { when: { lacks: files.map(endOf) }, reply: files.map(read) },
    ...files.map((path) => ({ when: { lacks: endOf(path) }, reply: [read(path)] })),
    { reply: answer },
  ]
}

const says = (answer: string): RuleInput[] => [{ reply: answer }]
const PARAGRAPH = 'The handler should close over the router instead of looking it up each time. '.repeat(8)

const UNCACHED: Goal = { most: 0.05 }
const COST: Goal = { most: 0.25 }

/**
 * The goals are about the first conversation. The others show what the figures depend on: output costs the same on both
 * sides, so the saving depends on the ratio of questions to answers. See decision 12.
 */
const SHAPES: readonly Shape[] = [
  {
    name: 'questions about the same files, read when not known, short answers',
    goals: { uncached: UNCACHED, cost: COST },
    question: (n) => `${n}. Which case is not handled yet in ${FEATURE}, and where would you put it?`,
    files: featureFiles(),
    rules: readsWhatItLacks(featureFiles(), PARAGRAPH),
  },
  {
    name: 'long questions (a pasted log), short answers',
    goals: { uncached: UNCACHED },
    question: (n) =>
      `${n}. ${'ERROR 2026-01-01T00:00:00Z worker 7: connection reset by peer while reading response header. '.repeat(40)}`,
    rules: says('The connection is reset because the upstream closes idle connections first. '.repeat(8)),
  },
  {
    name: 'pasted files (12 kB), short answers',
    goals: { uncached: UNCACHED },
    question: (n) =>
      `${n}. ${'export function handle(request: Request): Response { return route(request) } // as it is now\n'.repeat(130)}`,
    rules: says(PARAGRAPH),
  },
  {
    name: 'short questions, long answers',
    goals: { uncached: UNCACHED },
    question: (n) =>
      `${n}. ${'Please look into this part of the code as well and tell me what you think of it. '.repeat(4)}`,
    rules: says(
      'Here is what I found in that part, and why I think it should be changed in this way. '.repeat(24),
    ),
  },
  {
    name: 'short questions, the agent reads a file each, short answers',
    goals: {},
    question: (n) => `What does ${projectFiles()[n - 1]} do, and what would you change in it?`,
    files: projectFiles(),
    rules: [
      {
        // Matches the last one, because a transcript contains the earlier questions too.
        when: '/[\\s\\S]*What does (\\S+) do/',
        reply: [{ tool: 'Read', input: { file_path: '$1' } }, { await: 'results' }, { text: PARAGRAPH }],
      },
    ],
  },
]

export const chat: Benchmark = {
  name: 'chat',
  about:
    'Twenty turns of one conversation, resumed ÷ sent with the whole history each turn: input tokens not read from the cache, cost, and characters sent.',
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
    figure(
      of(`uncached input of turn ${turns}`),
      '×',
      [last(resumed).uncached / last(transcript).uncached],
      shape.goals.uncached,
    ),
    figure(
      of('cost of the conversation'),
      '×',
      [sum(resumed, 'cost') / sum(transcript, 'cost')],
      shape.goals.cost,
    ),
    figure(of(`cost of turn ${turns}`), '×', [last(resumed).cost / last(transcript).cost]),
    figure(of(`resumed turn ${turns} ÷ turn 2, uncached input but for what was read`), '×', [
      carried(last(resumed)) / carried(resumed[1] ?? NOTHING),
    ]),
    figure(of(`uncached input of turn ${turns}, resumed`), 'tokens', [last(resumed).uncached]),
    figure(of(`uncached input of turn ${turns}, whole history`), 'tokens', [last(transcript).uncached]),
    ...(shape.files
      ? [
          figure(of('files read in the conversation, resumed'), 'files', [sum(resumed, 'files')]),
          figure(of('files read in the conversation, whole history'), 'files', [sum(transcript, 'files')]),
        ]
      : []),
    figure(of(`characters sent in turn ${turns}, resumed`), 'characters', [last(resumed).sent]),
    figure(of(`characters sent in turn ${turns}, whole history`), 'characters', [last(transcript).sent]),
  ]
}

interface Turn {
  uncached: number
  /** The tokens of tool results in the conversation: new on both sides, and as long as the file. */
  read: number
  files: number
  cost: number
  sent: number
}
const NOTHING: Turn = { uncached: 0, read: 0, files: 0, cost: 0, sent: 0 }
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
    files: results.length,
    cost: costUsd ?? 0,
    sent: requests.at(-1)?.userText.length ?? 0,
  }
}

/** As the simulator counts, on what is sent: a result as JSON. */
const CHARS_A_TOKEN = 4
