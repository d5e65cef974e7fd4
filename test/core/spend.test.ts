/** Money and tokens of one attempt, counted once. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CLAUDE_PRICING } from '../../src/agents/claude/pricing.ts'
import { NO_USAGE, type Usage } from '../../src/contract/outcome.ts'
import {
  computeSpend as compute,
  type ModelSpend,
  type Rates,
  type SpendEvent,
} from '../../src/core/cost/usage.ts'

import { checkProperty } from './random.ts'

const computeSpend = (events: readonly SpendEvent[], known?: Rates) => compute(events, CLAUDE_PRICING, known)

const usage = (inputTokens: number, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0): Usage => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
})

const call = (messageId: string, used: Partial<Usage>, model = 'haiku', nested = false): SpendEvent => ({
  type: 'model-call',
  messageId,
  model,
  usage: used,
  nested,
})

const spent = (used: Usage, costUsd: number, model = 'haiku', contextWindow?: number): ModelSpend => ({
  model,
  usage: used,
  costUsd,
  contextWindow,
})

const turnEnd = (...models: ModelSpend[]): SpendEvent => ({ type: 'turn-end', models })

describe('a call that was cut off in the middle', () => {
  const finished = (messageId: string, used: Usage): SpendEvent[] => [
    call(messageId, { ...used, outputTokens: 1 }),
    { type: 'model-call', messageId, usage: { outputTokens: used.outputTokens }, nested: false },
  ]

  it('is left out of the report of its turn, and counted all the same, as estimated', () => {
    const spend = computeSpend([
      ...finished('a', usage(100, 10)),
      call('b', usage(200, 1)),
      turnEnd(spent(usage(100, 10), 0.15)),
    ])
    expect(spend).toMatchObject({ usage: usage(300, 11), estimated: true })
    expect(spend.costUsd).toBeCloseTo(0.15 + 0.001 * 205, 6)
  })

  it('is not counted again when the report has it', () => {
    const spend = computeSpend([
      ...finished('a', usage(100, 10)),
      call('b', usage(200, 1)),
      turnEnd(spent(usage(300, 11), 1)),
    ])
    expect(spend).toMatchObject({ usage: usage(300, 11), estimated: false, costUsd: 1 })
  })
})

describe('tokens', () => {
  it('of nothing are none, at no cost', () => {
    expect(computeSpend([])).toMatchObject({
      usage: NO_USAGE,
      costUsd: 0,
      estimated: false,
      contextTokens: null,
      contextWindow: null,
    })
  })

  it('of a message that is repeated are counted once', () => {
    const { usage: total } = computeSpend([
      call('a', usage(10, 1)),
      call('a', usage(10, 1)),
      call('b', usage(5, 2)),
    ])
    expect(total).toEqual(usage(15, 3))
  })

  it('of a message are those said last: a message_delta after the assistant line has some of them only', () => {
    const { usage: total } = computeSpend([
      call('a', usage(10, 1, 100, 7)),
      call('a', usage(10, 1, 100, 7)),
      { type: 'model-call', messageId: 'a', usage: { outputTokens: 42 }, nested: false },
    ])
    expect(total).toEqual(usage(10, 42, 100, 7))
  })

  it('are what the turn reports, not that and the calls it covers', () => {
    const { usage: total } = computeSpend([call('a', usage(10, 1)), turnEnd(spent(usage(10, 4), 0.5))])
    expect(total).toEqual(usage(10, 4))
  })

  it('of several turns of one process add up: each reports what came since the last', () => {
    const spend = computeSpend([
      call('a', usage(10, 1)),
      turnEnd(spent(usage(10, 4), 0.5)),
      call('b', usage(20, 1)),
      turnEnd(spent(usage(20, 6), 0.25), spent(usage(3, 1), 1, 'opus')),
    ])
    expect(spend).toMatchObject({ usage: usage(33, 11), costUsd: 1.75, estimated: false })
  })

  it('of an agent that reports no models are those of its usage, at the price that is known, if one is', () => {
    const events: SpendEvent[] = [call('a', usage(10, 1)), { type: 'turn-end', usage: usage(10, 4) }]
    expect(computeSpend(events)).toMatchObject({ usage: usage(10, 4), costUsd: null })
    const priced = { usage: usage(10, 4), costUsd: 15, estimated: true }
    expect(computeSpend(events, { haiku: 0.5 })).toMatchObject(priced)
  })

  it('are not counted twice where both usage and models are there', () => {
    const spend = computeSpend([{ type: 'turn-end', usage: usage(10, 4), models: [spent(usage(11, 4), 1)] }])
    expect(spend.usage).toEqual(usage(11, 4))
  })
})

describe('cost of a process that died before it could report', () => {
  const call2 = usage(100, 20, 1000, 40)
  const weight = 100 + 5 * 20 + 0.1 * 1000 + 1.25 * 40

  it('is computed at the rate the agent itself reported for the model, and marked', () => {
    const { rates } = computeSpend([turnEnd(spent(usage(10, 2), 0.4), spent(usage(1), 3, 'opus'))])
    const spend = computeSpend([call('a', call2), call('a', call2)], rates)
    expect(spend.estimated).toBe(true)
    expect(spend.costUsd).toBeCloseTo((0.4 / 20) * weight, 10)
    expect(spend.usage).toEqual(call2)
  })

  it('has the output that was streamed of a call that was cut off', () => {
    const streamed = (chars: number, nested = false): SpendEvent => ({ type: 'output', chars, nested })
    const cut = [call('a', usage(100, 1)), streamed(400), streamed(9999, true)]
    expect(computeSpend(cut, { haiku: 0.5 })).toMatchObject({ usage: usage(100, 100), costUsd: 300 })
    const whole: SpendEvent = {
      type: 'model-call',
      messageId: 'a',
      usage: { outputTokens: 80 },
      nested: false,
    }
    expect(computeSpend([...cut, whole]).usage).toEqual(usage(100, 80))
  })

  it('comes on top of what earlier turns of the process reported', () => {
    const spend = computeSpend([call('a', usage(10, 2)), turnEnd(spent(usage(10, 2), 0.4)), call('b', call2)])
    expect(spend.costUsd).toBeCloseTo(0.4 + 0.02 * weight, 10)
    expect(spend).toMatchObject({ estimated: true, usage: usage(110, 22, 1000, 40) })
  })

  it('is unknown instead of too low when the price of one of its models is unknown', () => {
    const spend = computeSpend([call('a', call2), call('b', call2, 'opus')], { haiku: 0.02 })
    expect(spend).toMatchObject({ costUsd: null, estimated: true })
    expect(spend.usage).toEqual(usage(200, 40, 2000, 80))
  })

  it('prices a call at its model even if the last piece of it names none', () => {
    const spend = computeSpend(
      [
        call('a', usage(10)),
        { type: 'model-call', messageId: 'a', usage: { outputTokens: 2 }, nested: false },
      ],
      { haiku: 0.5 },
    )
    expect(spend.costUsd).toBe(10)
  })

  it.each(['constructor', '__proto__', 'toString'])('is unknown for a model named %s', (model) => {
    expect(computeSpend([call('a', usage(10), model)]).costUsd).toBeNull()
  })

  it('keeps the rates it knew, and takes the newest', () => {
    const { rates } = computeSpend([turnEnd(spent(usage(10), 5))], { haiku: 9, opus: 7 })
    expect(rates).toEqual({ haiku: 0.5, opus: 7 })
  })

  it('learns no rate from a report without cost or without tokens', () => {
    expect(computeSpend([turnEnd(spent(usage(10), 0), spent(NO_USAGE, 1, 'opus'))]).rates).toEqual({})
  })
})

describe('context fill', () => {
  it('is all of the last call, not the sum of calls', () => {
    const { contextTokens } = computeSpend([call('a', usage(10, 1, 500)), call('b', usage(20, 2, 600, 5))])
    expect(contextTokens).toBe(627)
  })

  it('is not that of a sub-agent', () => {
    const { contextTokens } = computeSpend([call('a', usage(10, 1)), call('n', usage(9999), 'haiku', true)])
    expect(contextTokens).toBe(11)
  })

  it('outlives the turn: it is what the next call starts from', () => {
    const spend = computeSpend([call('a', usage(10, 1)), turnEnd(spent(usage(10, 1), 1))])
    expect(spend.contextTokens).toBe(11)
  })

  it('is measured against the window of the model that talks, not of one on the side', () => {
    const spend = computeSpend([
      call('a', usage(10), 'opus'),
      turnEnd(spent(usage(10), 1, 'opus', 200_000), spent(usage(1), 1, 'haiku', 1_000_000)),
    ])
    expect(spend.contextWindow).toBe(200_000)
  })
})

describe('with any events', () => {
  const tokens = fc.integer({ min: 0, max: 100_000 })
  const usages = fc.record({
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
  })
  const calls = fc.array(
    fc.record({ messageId: fc.constantFrom('a', 'b', 'c', 'd'), usage: usages, nested: fc.boolean() }),
    { maxLength: 12 },
  )

  it('repeated events change nothing', () => {
    checkProperty(
      fc.property(calls, (list) => {
        const events = list.map((c): SpendEvent => ({ type: 'model-call', model: 'haiku', ...c }))
        const repeated = events.flatMap((event) => [event, event])
        expect(computeSpend(repeated, { haiku: 0.1 })).toEqual(computeSpend(events, { haiku: 0.1 }))
      }),
    )
  })

  it('a turn-end covers exactly the calls before it', () => {
    checkProperty(
      fc.property(calls, calls, usages, (before, after, more) => {
        const asEvents = (list: typeof before, prefix: string) =>
          list.map(
            (c): SpendEvent => ({
              type: 'model-call',
              model: 'haiku',
              ...c,
              messageId: prefix + c.messageId,
            }),
          )
        const { inputTokens, cacheReadTokens, cacheWriteTokens } = computeSpend(asEvents(before, 'x')).usage
        const called = inputTokens + cacheReadTokens + cacheWriteTokens
        const reported = { ...more, inputTokens: more.inputTokens + called }
        const whole = computeSpend([
          ...asEvents(before, 'x'),
          turnEnd(spent(reported, 1)),
          ...asEvents(after, 'y'),
        ])
        const rest = computeSpend(asEvents(after, 'y'), whole.rates)
        expect(whole.usage.inputTokens).toBe(reported.inputTokens + rest.usage.inputTokens)
        expect(whole.usage.outputTokens).toBe(reported.outputTokens + rest.usage.outputTokens)
        if (rest.costUsd !== null) expect(whole.costUsd).toBeCloseTo(1 + rest.costUsd, 6)
      }),
    )
  })
})
