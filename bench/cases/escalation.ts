/**
 * What tiers cost and save, on the real CLI.
 *
 * - The time of a tool call in a run with rules ÷ in one without, including the model's answer to it. It is the
 *   difference between a run with many calls and one with none, divided by the number of calls, so the start of the
 *   process is not included.
 * - A chain of three tiers in one session ÷ the same chain with a handoff at each step: tokens, cost, and how many
 *   commands were run again. The scripted model behaves like a real one: it runs a command again if it cannot see the
 *   result, and a handoff contains only the beginning of long results.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chain } from '../../src/contract/chain.ts'
import type { CreateRun } from '../../src/contract/create-run.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { bash, FIXED, Incident, report, results } from '../../test/support/incident.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure } from '../figure.ts'
import { interleave } from '../measure.ts'

/** A run at a tier ends with a report. Both of its runs have one, so it cancels out. */
const called = ({ command, count, thinks }: Calls): RuleInput[] =>
  [
    { prompt: 'CALL-NOTHING', calls: 0 },
    { prompt: 'CALL-OFTEN', calls: count },
  ].flatMap(({ prompt, calls }) => {
    const steps = Array.from({ length: calls }, () => [{ wait: thinks }, bash(command), results]).flat()
    return [
      { when: `/tier 3 of[\\s\\S]*${prompt}/`, reply: [...steps, report(FIXED), results, { text: 'done' }] },
      { when: prompt, reply: [...steps, { text: 'done' }] },
    ]
  })

export const escalation: Benchmark = {
  name: 'escalation',
  about:
    'Time per tool call: a run with the rules of tier 3 ÷ a run without rules. A chain of three tiers, resumed ÷ with handoffs.',
  run: async ({ short }) => [
    ...(await toolCalls(
      {
        what: 'a model that answers in 0.5 s',
        command: 'echo ok',
        count: short ? 1 : 8,
        thinks: '500ms',
        goal: 1.05,
      },
      5,
      short,
    )),
    ...(short ? [] : await moreToolCalls()),
    ...(await chains(short ? { maxTier: 2 } : {})),
  ],
}

const moreToolCalls = async () => [
  ...(await toolCalls(
    { what: 'in 0.5 s, a guarded program', command: 'docker ps', count: 8, thinks: '500ms', goal: 1.05 },
    5,
    false,
  )),
  ...(await toolCalls(
    { what: 'a model that takes no time', command: 'echo ok', count: 20, thinks: '0ms', goal: null },
    10,
    false,
  )),
]

interface Calls {
  what: string
  command: string
  count: number
  thinks: string
  goal: number | null
}

/** `short`: only to show that it works. */
async function toolCalls(given: Calls, pairs: number, short: boolean): Promise<Figure[]> {
  const calls = short ? { ...given, count: 1, thinks: '0ms' } : given
  const { what, count, goal } = calls
  const world = await World.create({ name: 'calls', rules: called(calls) })
  const bin = join(world.dir, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'docker'), '#!/bin/sh\necho ok\n')
  chmodSync(join(bin, 'docker'), 0o755)
  world.env.PATH = `${bin}:${world.env.PATH}`
  await world.configure({ tiers: { 3: { model: 'haiku' } } })
  await world.startDaemon()
  try {
    const perCall = (request: object) => async () => {
      const [none, many] = [
        await world.run({ prompt: 'CALL-NOTHING', ...request }),
        await world.run({ prompt: 'CALL-OFTEN', ...request }),
      ]
      return ((many.durationMs ?? 0) - (none.durationMs ?? 0)) / count
    }
    const { held, free } = await interleave(
      { held: perCall({ tier: 3 }), free: perCall({ permissions: 'allow' }) },
      short ? 1 : pairs,
      { cold: short },
    )
    return [
      figure(
        `a tool call with rules ÷ without: ${what}`,
        '×',
        quotients(held, free),
        goal === null ? null : { most: goal },
      ),
      figure(
        `what rules add to a call: ${what}`,
        'ms',
        held.map((ms, i) => ms - (free[i] ?? 0)),
        null,
      ),
    ]
  } finally {
    await world.close()
  }
}

const quotients = (above: readonly number[], below: readonly number[]) =>
  above.map((value, i) => value / (below[i] ?? Number.NaN))

const LONG = 'for i in $(seq 400); do echo "line $i of what was found out"; done'
const LOOKS = [`docker logs web; ${LONG}`, `docker inspect web; ${LONG}`, `docker stats --no-stream; ${LONG}`]

/**
 * A tier that has the results of the earlier ones continues; one that has only part of them runs the commands again.
 */
const tierRules = (n: number, act: string, next: boolean): RuleInput[] => {
  const end = [bash(act), results, report(next ? {} : FIXED), results, { text: `tier ${n} is done` }]
  const again = LOOKS.flatMap((command) => [bash(command), results])
  const user = `tier ${n} of`
  return [
    { when: { user, contains: 'line 399 of what was found out' }, reply: end },
    { when: { user }, reply: [...again, ...end] },
  ]
}

async function chains(request: Partial<CreateRun>): Promise<Figure[]> {
  const rules = [
    ...tierRules(1, 'docker ps', true),
    ...tierRules(2, 'docker restart web', true),
    ...tierRules(3, 'docker compose up -d web', false),
  ]
  const play = async (config: object) => {
    const incident = await Incident.begin(rules, config)
    try {
      const chain = await incident.play(request)
      return { chain, repeated: incident.docker.length - new Set(incident.docker).size }
    } finally {
      await incident.close()
    }
  }
  const resumed = await play({})
  // With this threshold every session counts as too full.
  const handedOver = await play({ resume: { contextThreshold: 0.0000001 } })
  const ratio = (of: (chain: Chain) => number) => [of(resumed.chain) / of(handedOver.chain)]
  return [
    figure('a chain resumed ÷ handed over: tokens of every kind', '×', ratio(tokensOf), null),
    figure(
      'a chain resumed ÷ handed over: cost',
      '×',
      ratio((c) => c.totals.costUsd ?? 0),
      null,
    ),
    figure(
      'a chain resumed ÷ handed over: output tokens',
      '×',
      ratio((c) => c.totals.usage.outputTokens),
      null,
    ),
    figure('commands run again in a chain, resumed', 'commands', [resumed.repeated], { most: 0 }),
    figure('commands run again in a chain, handed over', 'commands', [handedOver.repeated], null),
  ]
}

const tokensOf = ({ totals: { usage } }: Chain) =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
