/**
 * What tiers cost and save, on the real CLI.
 *
 * - A tool call of a run that is held to rules ÷ of one that is not. A run of many calls less one of none, by the number
 *   of calls: what is paid once for a process is not part of it. Once with a command that no guard watches, once with
 *   one that is asked about a second time when it starts.
 * - A chain of three tiers that goes on in one session ÷ the same chain with a handoff each time: tokens, cost, and how
 *   many commands were run again. The scripted model does what a model does: it runs again what it cannot see the result
 *   of, and a handoff has only the beginning of long results.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chain } from '../../src/contract/chain.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { bash, FIXED, Incident, report, results } from '../../test/support/incident.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure } from '../figure.ts'
import { interleave } from '../measure.ts'

const CALLS = 20

const called = (command: string, signal: boolean): RuleInput[] => [
  { when: 'none', reply: signal ? [report(FIXED), results, { text: 'done' }] : 'done' },
  {
    when: 'many',
    reply: [
      ...Array.from({ length: CALLS }, () => [bash(command), results]).flat(),
      ...(signal ? [report(FIXED), results] : []),
      { text: 'done' },
    ],
  },
]

export const escalation: Benchmark = {
  name: 'escalation',
  about:
    'Per tool call, a run held to the rules of tier 3 ÷ a free one; and a chain of three tiers resumed ÷ the same chain by handoff.',
  run: async ({ short }) => [
    ...(await toolCalls('echo ok', 'a command no guard watches', short ? 1 : 12)),
    ...(await toolCalls('docker ps', 'one that a guard watches', short ? 1 : 6)),
    ...(await chains()),
  ],
}

async function toolCalls(command: string, what: string, pairs: number): Promise<Figure[]> {
  const world = await World.create({ name: 'calls', rules: called(command, false) })
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
        await world.run({ prompt: 'none', ...request }),
        await world.run({ prompt: 'many', ...request }),
      ]
      return ((many.durationMs ?? 0) - (none.durationMs ?? 0)) / CALLS
    }
    const { held, free } = await interleave(
      { held: perCall({ tier: 3 }), free: perCall({ permissions: 'allow' }) },
      pairs,
    )
    return [
      figure(`a tool call with rules ÷ without: ${what}`, '×', quotients(held, free), { most: 1.05 }),
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

/** A tier that has what the earlier ones saw goes on; one that has it only in part looks again. */
const tierRules = (n: number, act: string, next: boolean): RuleInput[] => {
  const end = [bash(act), results, report(next ? {} : FIXED), results, { text: `tier ${n} is done` }]
  const again = LOOKS.flatMap((command) => [bash(command), results])
  const user = `tier ${n} of`
  return [
    { when: { user, contains: 'line 399 of what was found out' }, reply: end },
    { when: { user }, reply: [...again, ...end] },
  ]
}

async function chains(): Promise<Figure[]> {
  const rules = [
    ...tierRules(1, 'docker ps', true),
    ...tierRules(2, 'docker restart web', true),
    ...tierRules(3, 'docker compose up -d web', false),
  ]
  const play = async (config: object) => {
    const incident = await Incident.begin(rules, config)
    try {
      const chain = await incident.play()
      return { chain, repeated: incident.docker.length - new Set(incident.docker).size }
    } finally {
      await incident.close()
    }
  }
  const resumed = await play({})
  // Every session counts as too full.
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
