/**
 * A query through the provider ÷ the same query through the Agent SDK, and ÷ a plain run of an engine in the same
 * process: fresh, and resumed in a session of its own. All sides use the same simulator, CLI and prompt; the time ends
 * when the iteration is over, so that the process has ended on each side.
 */
import { join } from 'node:path'
import { openReprise } from '../../src/library/open.ts'
import type { Reprise } from '../../src/library/reprise.ts'
import { type Ask, all, askProvider, askSdk, openProvider, resultOf } from '../../test/support/provider.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'

/** For each of the two figures. */
const MAX_MS = 45_000
const PROMPT = 'Say something.'
const HISTORY = [{ role: 'user', content: 'Before.' }] as const

export const provider: Benchmark = {
  name: 'provider',
  about:
    'executeQuery ÷ the Agent SDK’s query(), and ÷ a plain run of an engine in process, from the call until the iteration is over. All use the same simulator, CLI and prompt.',
  run: async ({ short }) => {
    const world = await World.create({
      name: 'provider',
      rules: [{ reply: 'Something, and a little more of it.' }],
    })
    const provider = await openProvider(world)
    const reprise = await openReprise({
      home: join(world.dir, 'engine'),
      env: world.env,
      cwd: world.workDir,
      agents: { claude: { model: 'haiku' } },
    })
    try {
      const asks = { provider: askProvider(world, () => provider), sdk: askSdk(world) }
      return [
        ...(await measure('fresh', asks, reprise, {}, short)),
        ...(await measure('resumed', asks, reprise, { resume: true }, short)),
      ]
    } finally {
      await provider.close()
      await reprise.close()
      await world.close()
    }
  },
}

async function measure(
  name: string,
  asks: { provider: Ask; sdk: Ask },
  reprise: Reprise,
  { resume = false }: { resume?: boolean },
  short: boolean,
): Promise<Figure[]> {
  const results = { sdk: [] as number[], provider: [] as number[] }
  const sides = {
    sdk: await timedQuery(asks.sdk, resume, results.sdk),
    provider: await timedQuery(asks.provider, resume, results.provider),
    run: await timedRun(reprise, resume),
  }
  const { sdk, provider, run } = await interleave(sides, short ? 1 : 30, { cold: short, maxMs: MAX_MS })
  // The first ones are from before the measured runs.
  const [ours, theirs] = [results.provider.slice(-provider.length), results.sdk.slice(-sdk.length)]
  return [
    figure(`${name}: provider ÷ SDK`, '×', ratios(provider, sdk)),
    figure(`${name}: provider ÷ SDK, until the result`, '×', ratios(ours, theirs)),
    figure(`${name}: provider ÷ plain run`, '×', ratios(provider, run), { most: 1.05 }),
    figure(`${name}: provider`, 'ms', provider),
    figure(`${name}: SDK`, 'ms', sdk),
    figure(`${name}: plain run`, 'ms', run),
  ]
}

/** Each side resumes its own session, which all of them make longer by the same turns. */
async function timedQuery(ask: Ask, resume: boolean, results: number[]): Promise<() => Promise<number>> {
  const first = resume ? resultOf(await all(ask({ prompt: PROMPT }))).session_id : undefined
  const session = first === undefined ? {} : { sdkSessionId: first, conversationHistory: HISTORY }
  return () =>
    timeMs(async () => {
      const from = performance.now()
      for await (const message of ask({ prompt: PROMPT, ...session })) {
        if (message.type !== 'result') continue
        if (message.is_error) throw new Error(JSON.stringify(message))
        results.push(performance.now() - from)
      }
    })
}

async function timedRun(reprise: Reprise, resume: boolean): Promise<() => Promise<number>> {
  const go = async (sessionId?: string) => {
    const run = await reprise.run({ prompt: PROMPT, ...(sessionId === undefined ? {} : { sessionId }) })
    for await (const event of run) {
      if (event.type === 'run-end' && event.outcome.name !== 'completed')
        throw new Error(event.outcome.message)
    }
    return (await run.result()).session ?? undefined
  }
  const sessionId = resume ? await go() : undefined
  return () => timeMs(() => go(sessionId))
}
