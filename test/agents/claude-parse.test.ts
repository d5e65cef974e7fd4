/** The parser on what the real CLI printed, and on what no CLI should print. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyClaude } from '../../src/agents/claude/classify.ts'
import { parseClaudeLine } from '../../src/agents/claude/parse.ts'
import { CLAUDE_PRICING } from '../../src/agents/claude/pricing.ts'
import { EventBody } from '../../src/contract/events.ts'
import type { OutcomeName } from '../../src/contract/outcome.ts'
import { computeSpend as compute, type Rates, type SpendEvent } from '../../src/core/cost/usage.ts'
import { checkProperty } from '../core/random.ts'
import { type Behaviour, capturedEvents, capturedLines, only } from './captured.ts'
import { SCENES } from './fixtures/capture.ts'

const computeSpend = (events: readonly SpendEvent[], known?: Rates) => compute(events, CLAUDE_PRICING, known)

const BEHAVIOURS = Object.keys(SCENES) as Behaviour[]

describe.each(BEHAVIOURS)('captured: %s', (behaviour) => {
  it('every line becomes events of the contract, and none is lost', () => {
    for (const line of capturedLines(behaviour)) {
      const events = parseClaudeLine(line)
      expect(events.length).toBeGreaterThan(0)
      for (const event of events) expect(EventBody.safeParse(event).error).toBeUndefined()
    }
  })

  it('has one turn-end', () => {
    expect(only(capturedEvents(behaviour), 'turn-end')).toHaveLength(1)
  })
})

it('records that the answer to `initialize` came, without its content', () => {
  const line = capturedLines('calls-the-hook').find((text) => text.includes('"commands":')) ?? ''
  expect(line.length).toBeGreaterThan(5000)
  const events = parseClaudeLine(line)
  expect(events).toMatchObject([
    { type: 'native', name: 'control_response', line: { response: { subtype: 'success' } } },
  ])
  expect(JSON.stringify(events)).toContain(JSON.parse(line).response.request_id)
  expect(JSON.stringify(events).length).toBeLessThan(500)
})

describe('the outcome of a turn', () => {
  it.each<[Behaviour, OutcomeName, number | undefined]>([
    ['text-turn', 'completed', undefined],
    ['resumed-turn', 'completed', undefined],
    ['compacts', 'completed', undefined],
    ['retries-and-succeeds', 'completed', undefined],
    ['turn-limit', 'turn-limit', undefined],
    ['budget-exhausted', 'budget', undefined],
    ['context-overflow', 'context-overflow', 400],
    ['auth-refused', 'auth', 403],
    ['rate-limited', 'rate-limited', 429],
    ['usage-limit', 'rate-limited', 429],
    ['overloaded', 'outage', 529],
    ['connection-lost', 'outage', undefined],
    ['unknown-session', 'session-missing', undefined],
  ])('%s: %s', (behaviour, name, apiStatus) => {
    const turnEnd = only(capturedEvents(behaviour), 'turn-end')[0] ?? null
    const exit = { stopCause: null, turnEnd, resetsAt: null, exitCode: 1, stderr: '' }
    const outcome = classifyClaude(exit)
    expect(outcome.name).toBe(name)
    expect(outcome.apiStatus).toBe(apiStatus)
    expect(outcome.message).not.toBe('')
  })

  it('of an interrupted one is never "completed", and is "cancelled" when Reprise interrupted it', () => {
    const turnEnd = only(capturedEvents('interrupted'), 'turn-end')[0] ?? null
    const exit = { turnEnd, resetsAt: null, exitCode: 1, stderr: '' }
    expect(classifyClaude({ ...exit, stopCause: null }).name).not.toBe('completed')
    expect(classifyClaude({ ...exit, stopCause: null }).name).not.toBe('session-missing')
    expect(classifyClaude({ ...exit, stopCause: 'cancelled' }).name).toBe('cancelled')
  })

  it('of an exhausted subscription includes the reset time', () => {
    const [limit, ...more] = only(capturedEvents('usage-limit'), 'rate-limit')
    expect(limit).toEqual({
      type: 'rate-limit',
      status: 'rejected',
      resetsAt: expect.any(String),
      limit: 'five_hour',
      scope: 'account',
      windows: [{ name: 'five_hour', used: 1, resetsAt: expect.any(String) }],
    })
    expect(more).toEqual([])
    expect(only(capturedEvents('usage-limit'), 'retry-wait')).toEqual([])
  })

  it("has the CLI's text as its message", () => {
    const message = (behaviour: Behaviour) => only(capturedEvents(behaviour), 'turn-end')[0]?.outcome.message
    expect(message('unknown-session')).toMatch(/^No conversation found with session ID: /)
    expect(message('turn-limit')).toContain('maximum number of turns (1)')
    expect(message('connection-lost')).toContain('ECONNREFUSED')
  })
})

describe('a text turn', () => {
  const events = capturedEvents('text-turn')

  it('starts with the session, confirms the prompt, and streams the text', () => {
    const [start] = only(events, 'session-start')
    expect(start).toMatchObject({ model: 'claude-haiku-5-5', version: '2.1.325' })
    expect(start?.agentSessionId).toMatch(/^[0-9a-f-]{36}$/)
    expect(start?.tools).toContain('Bash')
    expect(only(events, 'prompt-accept')).toHaveLength(1)
    const deltas = only(events, 'text-delta').map(({ text }) => text)
    expect(deltas.join('')).toBe('You said: hello there')
    expect(only(events, 'text-end')).toMatchObject([{ text: 'You said: hello there' }])
    expect(only(events, 'turn-end')).toMatchObject([{ text: 'You said: hello there', turns: 1 }])
  })

  it('is one model call, whose last figures are the final ones', () => {
    const calls = only(events, 'model-call')
    expect(new Set(calls.map(({ messageId }) => messageId)).size).toBe(1)
    expect(calls.map(({ usage }) => usage.outputTokens)).toEqual([1, 1, 6])
  })
})

describe('a tool turn', () => {
  it('shows the call, its input and its result, in order', () => {
    const events = capturedEvents('tool-turn')
    const [start] = only(events, 'tool-start')
    expect(start).toMatchObject({ name: 'Bash', input: { command: 'echo treasure' } })
    const input = only(events, 'tool-input-delta').map(({ text }) => text)
    expect(JSON.parse(input.join(''))).toEqual(start?.input)
    expect(only(events, 'tool-end')).toEqual([
      { type: 'tool-end', toolUseId: start?.toolUseId, isError: false, content: 'treasure' },
    ])
    const order = events
      .map(({ type }) => type)
      .filter((type) => /^(tool-(start|end)|text-end|turn-end)$/.test(type))
    expect(order).toEqual(['text-end', 'tool-start', 'tool-end', 'text-end', 'turn-end'])
  })

  it('shows a failed tool as such', () => {
    expect(only(capturedEvents('tool-fails'), 'tool-end')).toMatchObject([{ isError: true }])
  })

  it('with thinking shows that too', () => {
    const events = capturedEvents('thinking-turn')
    expect(
      only(events, 'thinking-delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe('Let me see.')
    expect(only(events, 'thinking-end')).toEqual([{ type: 'thinking-end', text: 'Let me see.' }])
    expect(only(events, 'text-end')).toMatchObject([{ text: 'Seen.' }])
  })

  it('of a sub-agent is counted with the turn', () => {
    const events = capturedEvents('runs-a-sub-agent')
    expect(only(events, 'tool-start')).toMatchObject([{ name: 'Agent' }])
    const [end] = only(events, 'turn-end')
    const whole = end?.models?.reduce((sum, { usage }) => sum + usage.outputTokens, 0) ?? 0
    expect(whole).toBeGreaterThan(end?.usage?.outputTokens ?? 0)
  })

  it('with a schema gives the object', () => {
    expect(only(capturedEvents('structured-output'), 'turn-end')[0]?.structured).toEqual({ colour: 'blue' })
  })
})

describe('what the CLI asks', () => {
  it('a question to the user, with its options', () => {
    const events = capturedEvents('asks-a-question')
    const [ask] = only(events, 'question-ask')
    expect(ask?.questions).toEqual([
      {
        question: 'Which colour?',
        header: 'Colour',
        multiSelect: false,
        options: [
          { label: 'Red', description: 'warm' },
          { label: 'Blue', description: 'cold' },
        ],
      },
    ])
    expect(ask?.toolUseId).toBe(only(events, 'tool-start')[0]?.toolUseId)
    expect(ask?.requestId).not.toBe('')
    expect(only(events, 'permission-ask')).toEqual([])
    expect(only(events, 'tool-end')[0]?.content).toContain('"Which colour?"="Blue"')
  })

  it.each([
    ['asks-permission', 'prompt', 'touch made'],
    ['calls-the-hook', 'hook', 'echo hooked'],
  ] as const)('may a tool run: %s', (behaviour, via, command) => {
    const events = capturedEvents(behaviour)
    const [start] = only(events, 'tool-start')
    expect(only(events, 'permission-ask')).toMatchObject([
      { via, tool: 'Bash', toolUseId: start?.toolUseId, input: { command } },
    ])
  })

  it('a refusal reaches the tool and the count of denials', () => {
    const events = capturedEvents('asks-permission')
    expect(only(events, 'tool-end')).toMatchObject([{ isError: true, content: 'not today' }])
    expect(only(events, 'turn-end')[0]?.permissionDenials).toBe(1)
  })

  it('questions of an unknown form become a permission request, so that they are not lost', () => {
    const request = { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input: { questions: 'odd' } }
    const line = JSON.stringify({ type: 'control_request', request_id: 'r1', request })
    expect(parseClaudeLine(line)).toEqual([
      {
        type: 'permission-ask',
        requestId: 'r1',
        toolUseId: 'r1',
        tool: 'AskUserQuestion',
        input: { questions: 'odd' },
        via: 'prompt',
        kind: 'question',
      },
    ])
  })

  it('may be withdrawn', () => {
    const line = JSON.stringify({ type: 'control_cancel_request', request_id: 'r1' })
    expect(parseClaudeLine(line)).toEqual([{ type: 'question-cancel', requestId: 'r1' }])
  })
})

describe('problems of the CLI', () => {
  it('its retries are reported, with status and delay', () => {
    expect(only(capturedEvents('retries-and-succeeds'), 'retry-wait')).toMatchObject([
      { number: 1, maxRetries: 2, apiStatus: 500, message: 'server_error', delayMs: expect.any(Number) },
    ])
    const [lost] = only(capturedEvents('connection-lost'), 'retry-wait')
    expect(lost).not.toHaveProperty('apiStatus')
    expect(lost).not.toHaveProperty('message')
  })

  it('its own text about an API error is a notice: no answer, and no model call', () => {
    const events = capturedEvents('overloaded')
    expect(only(events, 'notice')).toMatchObject([{ text: expect.stringContaining('529 Overloaded') }])
    expect(only(events, 'text-end')).toEqual([])
    expect(only(events, 'model-call')).toEqual([])
  })

  it.each([
    ['answers-a-command', 'Total cost:'],
    ['command-fails', 'Error: No messages to compact'],
  ] as const)('%s: the output of its own command is the answer, without a model call', (behaviour, text) => {
    const events = capturedEvents(behaviour)
    expect(only(events, 'text-end')).toMatchObject([{ text: expect.stringContaining(text) }])
    expect(only(events, 'notice')).toEqual([])
    expect(only(events, 'model-call')).toEqual([])
  })

  it('a compaction, with the size before and after', () => {
    const [compaction] = only(capturedEvents('compacts'), 'compaction')
    expect(compaction?.preTokens).toBeGreaterThan(compaction?.postTokens ?? Number.POSITIVE_INFINITY)
  })

  it('a hook after a compaction asks for a reminder, also that of a sub-agent', () => {
    const ask = (input: object) =>
      parseClaudeLine(
        JSON.stringify({
          type: 'control_request',
          request_id: 'r1',
          request: { subtype: 'hook_callback', callback_id: 'reminder', input },
        }),
      )
    const hook = { hook_event_name: 'SessionStart', source: 'compact', session_id: 's' }
    expect(ask(hook)).toEqual([{ type: 'reminder-ask', requestId: 'r1' }])
    expect(ask({ ...hook, agent_id: 'a0' })).toEqual([
      { type: 'reminder-ask', requestId: 'r1', subAgent: true },
    ])
  })

  it.each([
    [{ rate_limit_info: { status: 'rejected', resetsAt: 1_800_000_000 } }, '2027-01-15T08:00:00.000Z'],
    [{ rate_limit_info: { status: 'rejected', resetsAt: 1_800_000_000_000 } }, '2027-01-15T08:00:00.000Z'],
    [{ status: 'rejected', resets_at: '2027-01-15T08:00:00Z' }, '2027-01-15T08:00:00.000Z'],
    [{ status: 'rejected', resetsAt: 'soon' }, undefined],
    [{ status: 'rejected', resetsAt: 1e300 }, undefined],
    [{ status: 'rejected', resetsAt: 1e15 }, undefined],
    [{ status: 'rejected', resetsAt: -5 }, undefined],
  ])('a rate limit and when it resets: %j', (body, resetsAt) => {
    const [event] = parseClaudeLine(JSON.stringify({ type: 'rate_limit_event', ...body }))
    expect(event).toEqual({ type: 'rate-limit', status: 'rejected', ...(resetsAt ? { resetsAt } : {}) })
  })
})

describe('cost', () => {
  const spendOf = (behaviour: Behaviour, upTo = Number.POSITIVE_INFINITY) =>
    computeSpend(
      capturedEvents(behaviour)
        .slice(0, upTo)
        .flatMap((event): SpendEvent[] => {
          if (event.type === 'turn-end')
            return [{ type: 'turn-end', models: event.models, usage: event.usage }]
          if (event.type !== 'model-call') return []
          const { messageId, model, usage, parentToolUseId } = event
          return [
            {
              type: 'model-call',
              messageId,
              model,
              usage,
              nested: parentToolUseId !== undefined,
            } as SpendEvent,
          ]
        }),
    )

  it("of a resumed turn is this turn's, although the CLI's total is the session's", () => {
    const result = JSON.parse(
      capturedLines('resumed-turn').find((line) => line.includes('"total_cost_usd"')) ?? '',
    )
    const { costUsd, estimated, contextTokens, contextWindow } = spendOf('resumed-turn')
    expect(costUsd).toBeLessThan(result.total_cost_usd / 5)
    expect(costUsd).toBeGreaterThan(0)
    expect(estimated).toBe(false)
    expect(contextTokens).toBe(13_072 + 22 + 6)
    expect(contextWindow).toBe(1_000_000)
  })

  it('of a process that died before its result has the same tokens', () => {
    const events = capturedEvents('tool-turn')
    const died = spendOf(
      'tool-turn',
      events.findIndex(({ type }) => type === 'turn-end'),
    )
    expect(died.usage).toEqual(spendOf('tool-turn').usage)
    expect(died).toMatchObject({ estimated: true, costUsd: null })
  })

  it('is close to the real one when it has to be estimated', () => {
    const { rates } = spendOf('text-turn')
    const calls = only(capturedEvents('tool-turn'), 'model-call')
    const computed = computeSpend(
      calls.map((event) => ({ ...event, nested: false }) as SpendEvent),
      rates,
    )
    const reported = spendOf('tool-turn').costUsd ?? Number.NaN
    expect((computed.costUsd ?? Number.NaN) / reported).toBeCloseTo(1, 2)
  })

  it('is absent if the CLI reports only a cumulative one', () => {
    const line = {
      type: 'result',
      subtype: 'success',
      total_cost_usd: 5,
      usage: { output_tokens: 3 },
      modelUsage: {},
    }
    const [end] = parseClaudeLine(JSON.stringify(line))
    expect(end).toMatchObject({ type: 'turn-end', usage: { outputTokens: 3 } })
    expect(end).not.toHaveProperty('models')
  })
})

describe('what the parser has no event for', () => {
  it.each([
    ['{"type":"brand_new","subtype":"thing","x":[1]}', 'brand_new/thing'],
    ['{"type":"system","subtype":"who_knows"}', 'system/who_knows'],
    ['{"type":7}', 'unknown'],
    ['{}', 'unknown'],
    ['{"type":"assistant","message":"no object"}', 'assistant'],
    ['{"type":"assistant","message":{"content":[]}}', 'assistant'],
    ['{"type":"user","message":{"content":"only text"}}', 'user'],
    ['{"type":"system","subtype":"init","session_id":5}', 'system/init'],
    ['{"type":"control_request","request_id":1,"request":{"subtype":"can_use_tool"}}', 'control_request'],
    ['{"type":"command_lifecycle","state":"queued","command_uuid":"u"}', 'command_lifecycle'],
  ])('is kept completely under native: %s', (line, name) => {
    expect(parseClaudeLine(line)).toEqual([{ type: 'native', name, line: JSON.parse(line) }])
  })

  it.each(['', 'Segmentation fault', '{"type":"assis', '[1,2]', 'null', '42', '"text"', '\u0000', '﻿{}x'])(
    'is kept as it is if it is not an object: %j',
    (line) => {
      expect(parseClaudeLine(line)).toEqual([{ type: 'raw-line', text: line }])
    },
  )

  it('NUL bytes, U+2028 and lone surrogates in texts are preserved', () => {
    const text = 'a\u0000b\u2028c\u2029d\ud800e'
    const line = JSON.stringify({
      type: 'assistant',
      message: { id: 'm', content: [{ type: 'text', text }] },
    })
    expect(parseClaudeLine(line)).toEqual([{ type: 'text-end', text, messageId: 'm' }])
    const unescaped = line.replace('\\u0000', '').replaceAll('\\u2028', '\u2028')
    expect(parseClaudeLine(unescaped)).toMatchObject([{ type: 'text-end' }])
  })

  it('values that are not valid numbers are left out', () => {
    const line =
      '{"type":"assistant","message":{"id":"m","usage":{"input_tokens":1e999,"output_tokens":"7","cache_read_input_tokens":3}}}'
    expect(parseClaudeLine(line)).toEqual([
      { type: 'model-call', messageId: 'm', usage: { cacheReadTokens: 3 } },
    ])
  })
})

describe('with any text on a line', () => {
  it('the parser neither throws nor returns nothing', () => {
    checkProperty(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (line) => {
        const events = parseClaudeLine(line)
        expect(events.length).toBeGreaterThan(0)
        for (const event of events) expect(EventBody.safeParse(event).error).toBeUndefined()
      }),
      2000,
    )
  })

  it('real lines with any value in any place become events of the contract', () => {
    const lines = BEHAVIOURS.flatMap(capturedLines).map((line) => JSON.parse(line) as unknown)
    const extra = [
      { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1_800_000_000 } },
      { type: 'control_cancel_request', request_id: 'r' },
    ]
    const odd = fc.oneof(
      fc.constantFrom<unknown>(
        null,
        '',
        -1,
        1.5,
        1e300,
        -1e15,
        1e15,
        253_402_300_800,
        true,
        [],
        {},
        '2027-01-15',
      ),
      fc.jsonValue(),
    )
    checkProperty(
      fc.property(
        fc.constantFrom(...extra, ...lines),
        fc.infiniteStream(fc.nat()),
        odd,
        (line, picks, value) => {
          const changed = structuredClone(line)
          replaceSomewhere(changed, picks, value)
          for (const event of parseClaudeLine(JSON.stringify(changed))) {
            expect(EventBody.safeParse(event).error).toBeUndefined()
          }
        },
      ),
      6000,
    )
  })

  /** Descends into the value at random and replaces the place where it stops by `value`. */
  function replaceSomewhere(into: unknown, picks: Iterator<number>, value: unknown): void {
    if (typeof into !== 'object' || into === null) return
    const keys = Object.keys(into)
    const pick = () => picks.next().value as number
    const key = keys[pick() % Math.max(1, keys.length)]
    if (key === undefined) return
    const inner = (into as Record<string, unknown>)[key]
    if (typeof inner === 'object' && inner !== null && pick() % 4 > 0) replaceSomewhere(inner, picks, value)
    else (into as Record<string, unknown>)[key] = value
  }
})
