/** Expected and actual reads of a resumed turn from the prompt cache, and the savings by resuming. */
import { describe, expect, it } from 'vitest'
import { CLAUDE_PRICING } from '../../src/agents/claude/pricing.ts'
import type { EventBody } from '../../src/contract/events.ts'
import type { Usage } from '../../src/contract/outcome.ts'
import { type CacheState, type CacheTurn, judgeCache } from '../../src/core/cost/cache.ts'
import { describeCacheUse } from '../../src/core/cost/cache-text.ts'

const T0 = Date.parse('2026-03-01T12:00:00Z')
const RATE = 1e-6
const MINUTE = 60_000

const call = (
  read: number,
  write: number,
  change: Partial<EventBody & { type: 'model-call' }> = {},
): EventBody => ({
  type: 'model-call',
  messageId: `msg_${read}_${write}`,
  model: 'haiku',
  usage: { inputTokens: 10, cacheReadTokens: read, cacheWriteTokens: write } satisfies Partial<Usage>,
  ...change,
})
const start = (...tools: string[]): EventBody => ({ type: 'session-start', agentSessionId: 's', tools })

const before: CacheState = {
  model: 'haiku',
  cachedTokens: 20_000,
  version: '2.1.0',
  tools: 'Bash Read',
  at: new Date(T0).toISOString(),
  ttlMs: 5 * MINUTE,
  baseTokens: 15_000,
}

function judge(bodies: EventBody[], change: Partial<CacheTurn> = {}, afterMs = MINUTE) {
  return judgeCache({
    events: bodies.map((body) => ({ body, at: new Date(T0 + afterMs) })),
    resumed: true,
    before,
    version: '2.1.0',
    sent: { promptTokens: 100, transcriptTokens: 5000 },
    pricing: CLAUDE_PRICING,
    rates: { haiku: RATE, opus: 5 * RATE },
    ...change,
  })
}

it('a turn that reads what the last one left: nothing was written again', () => {
  const { use } = judge([start('Read', 'Bash'), call(20_000, 300)])
  expect(use).toMatchObject({
    expectedReadTokens: 20_000,
    readTokens: 20_000,
    writtenTokens: 300,
    rewrittenTokens: 0,
    cause: null,
    rewriteUsd: 0,
  })
})

describe('what was written again has a cause and a price', () => {
  it.each([
    ['other-model', [call(0, 20_300, { model: 'opus' })], {}, MINUTE],
    ['other-version', [call(0, 20_300)], { version: '2.2.0' }, MINUTE],
    ['other-tools', [start('Bash'), call(0, 20_300)], {}, MINUTE],
    ['expired', [call(0, 20_300)], {}, 5 * MINUTE],
    ['expired', [call(0, 20_300)], { before: { ...before, ttlMs: null } }, 5 * MINUTE],
    ['unknown', [start('Bash', 'Read'), call(0, 20_300)], {}, 5 * MINUTE - 1],
    ['unknown', [call(0, 20_300)], { before: { ...before, ttlMs: 60 * MINUTE } }, 59 * MINUTE],
    ['unknown', [call(0, 20_300)], { version: null }, MINUTE],
  ] as const)('%s', (cause, bodies, change, afterMs) => {
    const { use } = judge([...bodies], change, afterMs)
    const rate = cause === 'other-model' ? 5 * RATE : RATE
    expect(use).toMatchObject({ cause, rewrittenTokens: 20_000 })
    expect(use?.rewriteUsd).toBeCloseTo(20_000 * (1.25 - 0.1) * rate, 9)
    expect(describeCacheUse(use!)).toMatch(
      /^wrote 20000 of 20000 tokens to the prompt cache again, for about \$0\.\d+ /,
    )
  })

  it('in part, if only the end of the request differs; a small part is ignored', () => {
    expect(judge([call(15_000, 5300)]).use).toMatchObject({ cause: 'unknown', rewrittenTokens: 5000 })
    expect(judge([call(19_500, 800)]).use).toMatchObject({ cause: null, rewrittenTokens: 0 })
  })

  it('without a price if the price of the model is not known', () => {
    expect(judge([call(0, 20_300)], { rates: {} }).use).toMatchObject({ rewriteUsd: null, savedUsd: null })
  })
})

describe('what resuming saved', () => {
  const saved = (bodies: EventBody[], change: Partial<CacheTurn> = {}) => judge(bodies, change).use?.savedUsd

  it('is what writing the history would have cost, less what reading the session did', () => {
    expect(saved([call(20_000, 300)])).toBeCloseTo(RATE * (1500 + 6250 - (2000 + 375 + 10)), 9)
  })

  it('is negative if a large session was written again', () => {
    expect(saved([call(0, 20_300)])).toBeCloseTo(RATE * (1500 + 6250 - (25_375 + 10)), 9)
  })

  it('counts every further call, which reads the larger or smaller context again', () => {
    const one = saved([call(20_000, 300)])!
    const three = saved([call(20_000, 300), call(20_300, 50), call(20_350, 60)])!
    expect(three - one).toBeCloseTo(RATE * 2 * 0.1 * (20_000 - 20_310), 9)
  })

  it('is not known for a session whose beginning was not seen', () => {
    expect(saved([call(20_000, 300)], { before: { ...before, baseTokens: null } })).toBeNull()
    expect(saved([call(20_000, 300)], { sent: null })).toBeNull()
  })
})

describe('what a turn leaves for the next', () => {
  it('is what its last call of the conversation itself had in the cache', () => {
    const nested = call(1, 2, { messageId: 'sub', parentToolUseId: 'toolu_1' })
    const bodies = [start('Bash'), call(20_000, 300), call(20_300, 500, { cacheTtlMs: 60 * MINUTE }), nested]
    expect(judge(bodies).after).toEqual({
      ...before,
      tools: 'Bash',
      cachedTokens: 20_800,
      at: new Date(T0 + MINUTE).toISOString(),
      ttlMs: 60 * MINUTE,
    })
  })

  it('for a new session includes the size of the agent’s own instructions; its cache use is not judged', () => {
    const { use, after } = judge([call(0, 15_200)], { resumed: false, before: null })
    expect(use).toBeNull()
    expect(after).toMatchObject({ cachedTokens: 15_200, baseTokens: 15_110, tools: null })
  })

  it('is nothing after a compaction, with or without calls; without both, what was there', () => {
    const compaction: EventBody = { type: 'compaction', postTokens: 10 }
    expect(judge([call(20_000, 300), compaction]).after).toMatchObject({ cachedTokens: 0 })
    expect(judge([compaction]).after).toMatchObject({ cachedTokens: 0 })
    expect(judge([])).toEqual({ use: null, after: null })
    expect(judge([call(15_000, 400)], { before: { ...before, cachedTokens: 0 } }).use).toMatchObject({
      cause: null,
    })
  })
})
