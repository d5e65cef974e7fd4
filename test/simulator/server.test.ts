import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { ScenarioInput } from '../../src/simulator/scenario-types.ts'
import type { Simulator, SimulatorOptions } from '../../src/simulator/server.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { ask, body, parseEvents, post, readUntilBroken, textIn } from './client.ts'

let simulator: Simulator

async function start(rules: ScenarioInput['rules'], options: SimulatorOptions = {}): Promise<string> {
  simulator = await startSimulator({ scenario: { rules }, ...options })
  return simulator.url
}

afterEach(() => simulator.close())

describe('a reply', () => {
  it('is streamed with the events of the Messages API, text in several deltas', async () => {
    const long = 'The quick brown fox 🦊 jumps over the lazy dog, again and again and again.'
    const url = await start([
      { reply: [{ thinking: 'hm' }, { text: long }, { tool: 'Bash', input: { command: 'ls' } }] },
    ])
    const response = await post(url, body('hello', { stream: true }))
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(response.headers.get('request-id')).toMatch(/^req_/)
    const events = parseEvents(await response.text())
    expect(events.every(({ event, data }) => event === data.type)).toBe(true)

    const order = events.map(({ event }) => event).filter((event, i, all) => event !== all[i - 1])
    expect(order).toEqual([
      'message_start',
      ...['content_block_start', 'ping', 'content_block_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ])
    const texts = events.flatMap(({ data }) => (data.delta?.type === 'text_delta' ? [data.delta.text] : []))
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.join('')).toBe(long)
    const json = events.map(({ data }) => data.delta?.partial_json ?? '').join('')
    expect(JSON.parse(json)).toEqual({ command: 'ls' })
    expect(events[0]?.data.message).toMatchObject({
      role: 'assistant',
      model: 'claude-test',
      content: [],
      stop_reason: null,
    })
    expect(events.at(-2)?.data.delta?.stop_reason).toBe('tool_use')
  })

  it('is one document when streaming is not asked for', async () => {
    const url = await start([
      { reply: [{ thinking: 'hm' }, 'You said ${user}', { tool: 'Read', input: { path: 'a', n: 1 } }] },
    ])
    const message = await ask(url, body('hello'))
    expect(message).toMatchObject({
      type: 'message',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'You said hello' },
        { type: 'tool_use', name: 'Read', input: { path: 'a', n: 1 } },
      ],
      stop_reason: 'tool_use',
    })
    expect(message.content[2]?.id).toMatch(/^toolu_/)
  })

  it('may say why it stopped', async () => {
    const url = await start([{ reply: ['cut short', { stop: 'max_tokens' }] }])
    expect((await ask(url, body('x'))).stop_reason).toBe('max_tokens')
  })

  it('continues after the tool results when it awaits them, also when they are sent twice', async () => {
    const url = await start([
      {
        when: /count (\w+)/,
        times: 1,
        reply: [
          { tool: 'Bash', input: {} },
          { await: 'results' },
          { tool: 'Read' },
          { await: 'results' },
          'counted $1: ${toolResult}',
        ],
      },
      { when: { toolResult: 'never' }, reply: 'never' },
    ])
    const messages: object[] = [{ role: 'user', content: 'count sheep' }]
    const answerTool = async (result: string) => {
      const reply = await ask(url, body(messages))
      messages.push({ role: 'assistant', content: reply.content })
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: reply.content[0]?.id, content: result }],
      })
    }
    await answerTool('one')
    await answerTool('two')
    expect(textIn(await ask(url, body(messages)))).toBe('counted sheep: two')
    expect(textIn(await ask(url, body(messages)))).toBe('counted sheep: two')
  })

  it('is an error that names the scenario when no rule matches', async () => {
    const url = await start([{ when: 'hello', reply: 'hi' }], {
      scenario: { name: 'gap', rules: [{ when: 'hello', reply: 'hi' }] },
    })
    const answer = await ask(url, body('something else'))
    expect(answer.error.message).toContain(
      'no rule of scenario "gap" matches this main request with user text "something else"',
    )
  })
})

describe('a failure', () => {
  it('is an API error with status, shape and retry-after', async () => {
    const url = await start([{ reply: [{ error: { status: 529, retryAfter: 7 } }] }])
    const response = await post(url, body('x', { stream: true }))
    expect(response.status).toBe(529)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    })
    expect(simulator.requests()[0]).toMatchObject({ status: 529, outcome: 'failed', usage: undefined })
  })

  it('after content is an error event in the stream', async () => {
    const url = await start([{ reply: ['so far', { error: { status: 500 } }] }])
    const events = parseEvents(await (await post(url, body('x', { stream: true }))).text())
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: { type: 'api_error' } } })
  })

  it('with `times` happens that often, then the reply continues; the firing is counted once', async () => {
    const url = await start([
      { times: 1, reply: [{ error: { status: 500, times: 2 } }, 'fine'] },
      { reply: 'next rule' },
    ])
    const seen = []
    for (let i = 0; i < 4; i++) {
      const answer = await ask(url, body('x'))
      seen.push(answer.error?.type ?? textIn(answer))
    }
    expect(seen).toEqual(['api_error', 'api_error', 'fine', 'next rule'])
  })

  it('happens again after a reset, like everything else', async () => {
    const url = await start([{ times: 1, reply: [{ error: { status: 500, times: 1 } }, 'fine'] }])
    for (let round = 0; round < 2; round++) {
      expect((await ask(url, body('x'))).error.type).toBe('api_error')
      expect(textIn(await ask(url, body('x')))).toBe('fine')
      expect((await ask(url, body('x'))).error.message).toContain('no rule')
      simulator.reset()
      expect(simulator.requests()).toEqual([])
    }
  })

  it('may cut the connection after some content', async () => {
    const url = await start([{ reply: ['the first half', { cut: true }] }])
    const { text, broken } = await readUntilBroken(await post(url, body('x', { stream: true })))
    expect(text).toContain('the first half')
    expect(text).not.toContain('message_stop')
    expect(broken).toBe(true)
    expect((await simulator.waitFor((r) => r.outcome === 'cut')).status).toBe(200)
  })

  it('may cut the connection before any answer', async () => {
    const url = await start([{ reply: [{ cut: true }] }])
    await expect(post(url, body('x'))).rejects.toThrow()
  })

  it('continues with the rest when the client asks to resume a reply that was cut', async () => {
    const url = await start([{ reply: ['half', { cut: { times: 1 } }, 'the rest'] }])
    await readUntilBroken(await post(url, body('x', { stream: true })))
    const note = 'Your response above was cut off mid-stream. Resume directly from where it stops.'
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'half' },
      { role: 'user', content: note },
    ]
    expect(textIn(await ask(url, body(messages)))).toBe('the rest')
  })

  it('may be a context overflow', async () => {
    const url = await start([{ reply: [{ overflow: { tokens: 210_000, limit: 200_000 } }] }])
    const response = await post(url, body('x'))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    })
  })

  it('is a context overflow whenever a request exceeds the window of its model', async () => {
    simulator = await startSimulator({
      scenario: { models: { small: { contextWindow: 50 } }, rules: [{ reply: 'ok' }] },
    })
    const long = 'abcd'.repeat(51)
    const refused = await ask(simulator.url, body(long, { model: 'claude-small' }))
    expect(refused.error.message).toBe('prompt is too long: 51 tokens > 50 maximum')
    expect(textIn(await ask(simulator.url, body('abcd'.repeat(50), { model: 'claude-small' })))).toBe('ok')
    expect(textIn(await ask(simulator.url, body(long, { model: 'claude-large' })))).toBe('ok')
  })

  it('may be a rate limit with a reset time', async () => {
    const url = await start([{ reply: [{ rateLimit: { resetsIn: '90s' } }] }], { now: () => 1_000_000_500 })
    const { status, headers } = await post(url, body('x'))
    expect(status).toBe(429)
    expect(headers.get('retry-after')).toBe('90')
    expect(headers.get('anthropic-ratelimit-unified-status')).toBe('rejected')
    expect(headers.get('anthropic-ratelimit-unified-reset')).toBe('1000091')
    expect(headers.get('anthropic-ratelimit-unified-representative-claim')).toBe('five_hour')
    expect(headers.get('anthropic-ratelimit-unified-5h-reset')).toBe('1000091')
  })
})

describe('a hold', () => {
  it('keeps the reply until it is released', async () => {
    const url = await start([{ reply: ['before', { hold: 'gate' }, 'after'] }])
    const pending = post(url, body('x', { stream: true })).then((response) => response.text())
    const held = await simulator.waitForHold('gate')
    expect(held).toMatchObject({ outcome: 'pending', status: 200 })
    expect(simulator.release('gate')).toBe(1)
    expect(await pending).toContain('after')
    expect(simulator.requests()[0]).toMatchObject({ outcome: 'answered', heldAt: undefined })
  })

  it('released early lets the next reply pass', async () => {
    const url = await start([{ reply: [{ hold: 'gate' }, 'after'] }])
    expect(simulator.release('gate')).toBe(0)
    expect(textIn(await ask(url, body('x')))).toBe('after')
  })

  it('ends when the client disconnects, which the record shows', async () => {
    const url = await start([{ reply: ['before', { hold: 'gate' }, 'after'] }])
    const leaving = new AbortController()
    const payload = JSON.stringify(body('x', { stream: true }))
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: payload,
      signal: leaving.signal,
    })
    await simulator.waitForHold('gate')
    leaving.abort()
    await simulator.waitFor((record) => record.outcome === 'clientGone')
    await expect(response.text()).rejects.toThrow()
    expect(simulator.release('gate')).toBe(0)
  })

  it('does not keep the simulator from closing', async () => {
    const url = await start([{ reply: [{ hold: 'gate' }] }])
    const refused = expect(post(url, body('x'))).rejects.toThrow()
    await simulator.waitForHold('gate')
    await simulator.close()
    await refused
  })
})

describe('usage', () => {
  const system = [{ type: 'text', text: 'abcd'.repeat(200), cache_control: { type: 'ephemeral' } }]

  it('agrees with count_tokens and shows the cache', async () => {
    let now = 0
    const url = await start([{ reply: 'abcdabcd' }], { now: () => now })
    const counted = await fetch(`${url}/v1/messages/count_tokens`, {
      method: 'POST',
      body: JSON.stringify(body('hi', { system })),
    })
    expect(await counted.json()).toEqual({ input_tokens: 201 })
    expect((await ask(url, body('hi', { system }))).usage).toMatchObject({
      input_tokens: 1,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 0 },
      output_tokens: 2,
    })
    now = 60_000
    expect((await ask(url, body('hi', { system }))).usage).toMatchObject({
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 0,
    })
    now = 20 * 60_000
    expect((await ask(url, body('hi', { system }))).usage.cache_read_input_tokens).toBe(0)
  })

  it('of a failed request is none, and it writes no cache', async () => {
    const url = await start([{ times: 1, reply: [{ error: { status: 500 } }] }, { reply: 'ok' }])
    await post(url, body('hi', { system }))
    expect((await ask(url, body('hi', { system }))).usage.cache_read_input_tokens).toBe(0)
  })

  it('is refused with more than four breakpoints', async () => {
    const url = await start([{ reply: 'ok' }])
    const answer = await ask(url, body('hi', { system: Array(5).fill(system[0]) }))
    expect(answer.error.message).toContain('A maximum of 4 blocks with cache_control')
  })
})

describe('records', () => {
  it('hold what was sent and how it was answered, and can be filtered', async () => {
    const url = await start([{ name: 'greet', reply: 'hi' }])
    await ask(url, body('first', { model: 'claude-a', system: 'be brief', tools: [{ name: 'Bash' }] }), {
      'user-agent': 'test/1',
      'x-claude-code-session-id': 'session-1',
    })
    await ask(url, body('second', { model: 'claude-b' }))
    expect(simulator.requests()).toHaveLength(2)
    expect(simulator.requests({ model: 'claude-a' })[0]).toMatchObject({
      n: 1,
      kind: 'main',
      model: 'claude-a',
      system: 'be brief',
      tools: ['Bash'],
      userText: 'first',
      userAgent: 'test/1',
      sessionId: 'session-1',
      rule: 'greet',
      status: 200,
      outcome: 'answered',
      usage: { output_tokens: 1 },
    })
    expect(simulator.requests({ contains: 'second' }).map((r) => r.n)).toEqual([2])
    expect(simulator.requests({ since: 1 }).map((r) => r.n)).toEqual([2])
    expect(simulator.requests({ sessionId: 'session-1' })).toHaveLength(1)
  })

  it('are limited in number', async () => {
    const url = await start([{ reply: 'hi' }], { maxRecords: 2 })
    for (const text of ['a', 'b', 'c']) await ask(url, body(text))
    expect(simulator.requests().map((record) => record.userText)).toEqual(['b', 'c'])
  })

  it('can be waited for; a timeout lists what was seen', async () => {
    const url = await start([{ reply: 'hi' }])
    const waiting = simulator.waitFor((record) => record.userText === 'now')
    await ask(url, body('now'))
    expect((await waiting).n).toBe(1)
    await expect(simulator.waitFor(() => false, { timeoutMs: 1 })).rejects.toThrow(
      /newest of 1: #1 main answered "now"/,
    )
    const never = expect(simulator.waitFor(() => false)).rejects.toThrow(/closed while waiting/)
    await simulator.close()
    await never
  })
})

describe('the other routes', () => {
  const call = (path: string, init?: RequestInit) => fetch(simulator.url + path, init)

  it('answer probes, list models, and refuse unknown paths in the form of the API', async () => {
    await start([{ reply: 'hi' }])
    expect((await call('/api/hello', { method: 'HEAD' })).status).toBe(200)
    expect(await (await call('/v1/models')).json()).toMatchObject({ data: [{ type: 'model' }, {}, {}] })
    const unknown = await call('/v1/nothing')
    expect(unknown.status).toBe(404)
    expect(unknown.headers.get('request-id')).toMatch(/^req_/)
    expect(await unknown.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
    expect(await (await call('/simulator/state')).json()).toMatchObject({
      otherRequests: { 'HEAD /api/hello': 1, 'GET /v1/models': 1, 'GET /v1/nothing': 1 },
    })
  })

  it('refuse bodies that are not a request', async () => {
    await start([{ reply: 'hi' }])
    for (const payload of [
      '{',
      '{}',
      '{"model":"m","messages":[]}',
      '{"model":"m","messages":[{"role":"boss","content":""}]}',
    ]) {
      const response = await call('/v1/messages', { method: 'POST', body: payload })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
    }
  })

  it('control the simulator over HTTP', async () => {
    const url = await start([{ reply: 'hi' }])
    const put = (yaml: string) => call('/simulator/scenario?file=mine.yaml', { method: 'PUT', body: yaml })
    const refused = await put('rules:\n  - rply: x\n')
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: { code: 'scenario-invalid', message: expect.stringContaining('mine.yaml:2:') },
    })
    expect((await put('name: mine\nrules:\n  - reply: [{ hold: gate }, "from ${user}"]\n')).status).toBe(200)

    const pending = ask(url, body('YAML'))
    await simulator.waitForHold('gate')
    expect(await (await call('/simulator/state')).json()).toMatchObject({
      scenario: 'mine',
      holds: { gate: 1 },
    })
    expect(await (await call('/simulator/release/gate', { method: 'POST' })).json()).toEqual({ released: 1 })
    expect(textIn(await pending)).toBe('from YAML')

    const list = async (query: string) =>
      (await (await call(`/simulator/requests${query}`)).json()) as { requests: object[] }
    expect((await list('?contains=YAML&since=0&kind=main')).requests).toHaveLength(1)
    expect((await list('?since=1')).requests).toHaveLength(0)
    expect((await list('?since=2100-01-01T00:00:00Z')).requests).toHaveLength(0)
    expect((await call('/simulator/requests?sinse=1')).status).toBe(400)
    await call('/simulator/reset', { method: 'POST' })
    expect((await list('')).requests).toHaveLength(0)
    expect((await call('/simulator/nothing')).status).toBe(404)
  })

  it('close at once, whatever is connected', async () => {
    await start([{ reply: 'hi' }])
    const socket = connect(simulator.port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('connect', resolve))
    await simulator.close()
    await closed
  })
})

describe('without a scenario', () => {
  it('answers anything, and runs a command when asked to look', async () => {
    simulator = await startSimulator()
    expect(textIn(await ask(simulator.url, body('What is love?')))).toContain('I am the Reprise simulator')
    for (const prompt of ['Please list the files here', 'run the tests', 'Look around']) {
      const looking = await ask(simulator.url, body(prompt))
      expect(looking.content.at(-1)).toMatchObject({
        type: 'tool_use',
        name: 'Bash',
        input: { command: 'ls' },
      })
    }
  })
})
