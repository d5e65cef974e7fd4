import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { CliContext } from '../../src/cli/base/context.ts'
import { advance, formatProgress, startProgress } from '../../src/cli/run/progress.ts'
import { createRunView } from '../../src/cli/run/view.ts'
import { fitColumns, lengthAfter } from '../../src/cli/terminal/columns.ts'
import type { EventBody, RunEvent } from '../../src/contract/events.ts'
import { RunId } from '../../src/contract/ids.ts'
import { createScreen, type Screen } from './screen.ts'

const START = new Date('2026-01-01T12:00:00Z')
const runId = RunId.create(START)
let seq = 0
const event = (body: EventBody): RunEvent => ({
  ...body,
  runId,
  seq: ++seq,
  attemptId: null,
  at: START.toISOString(),
})
const seen = (...bodies: EventBody[]) => bodies.map(event).reduce(advance, startProgress())
const call = (messageId: string, usage: object, parentToolUseId?: string): EventBody => ({
  type: 'model-call',
  messageId,
  usage,
  ...(parentToolUseId ? { parentToolUseId } : {}),
})
const tool = (toolUseId: string, command: string): EventBody => ({
  type: 'tool-start',
  toolUseId,
  name: 'Bash',
  input: { command },
})
const toolEnd = (toolUseId: string): EventBody => ({
  type: 'tool-end',
  toolUseId,
  isError: false,
  content: '',
})
const usage = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
})
const turnEnd = (models?: { inputTokens: number; outputTokens: number; costUsd: number }[]): EventBody => ({
  type: 'turn-end',
  outcome: { name: 'completed', message: 'done' },
  ...(models
    ? {
        models: models.map(({ costUsd, inputTokens, outputTokens }) => ({
          model: 'm',
          costUsd,
          usage: usage(inputTokens, outputTokens),
        })),
      }
    : {}),
})
const line = (progress: ReturnType<typeof startProgress>, seconds = 0) =>
  formatProgress(progress, new Date(START.getTime() + seconds * 1000))

describe('how far a run has come', () => {
  test('nothing yet', () => {
    expect(line(startProgress())).toBe('0 turns · 0 tool calls · 0 tokens · 0s')
  })

  test('later figures of a call replace earlier ones', () => {
    const progress = seen(
      call('a', { inputTokens: 100, outputTokens: 1 }),
      call('a', { outputTokens: 40 }),
      call('b', { inputTokens: 10, cacheReadTokens: 1000 }, 'toolu_1'),
    )
    expect(line(progress)).toBe('2 turns · 0 tool calls · 1.1k tokens · 0s')
  })

  test('the newest tool that is still running', () => {
    const running = seen(tool('1', 'ls'), tool('2', 'make\n all'), tool('3', 'true'), toolEnd('3'))
    expect(line(running)).toBe('0 turns · 3 tool calls · 0 tokens · 0s · Bash make all')
    expect(line([toolEnd('2'), toolEnd('1')].map(event).reduce(advance, running))).toMatch(/0s$/)
    const ended = { type: 'attempt-end', number: 1, exitCode: null, strays: 0 } as const
    const crashed = event({ ...ended, outcome: { name: 'crashed', message: 'x' } })
    expect(line(advance(running, crashed))).toMatch(/0s$/)
  })

  test("what the agent reports at a turn's end counts once, and has the cost", () => {
    const one = [call('a', usage(100, 10)), turnEnd([{ inputTokens: 150, outputTokens: 10, costUsd: 0.01 }])]
    expect(line(seen(...one))).toBe('1 turn · 0 tool calls · 160 tokens · $0.0100 · 0s')
    expect(line(seen(...one, call('b', usage(5, 5))))).toBe(
      '2 turns · 0 tool calls · 170 tokens · $0.0100 · 0s',
    )
    expect(line(seen(call('a', usage(100, 10)), turnEnd()))).toBe('1 turn · 0 tool calls · 110 tokens · 0s')
    // It leaves out calls that were cut off.
    const cut = turnEnd([{ inputTokens: 0, outputTokens: 0, costUsd: 0 }])
    expect(line(seen(call('a', usage(100, 10)), cut))).toContain('110 tokens')
  })

  test('counts on from what was done before', () => {
    const before = { modelCalls: 3, toolCalls: 2, tokens: 1000, costUsd: 0.5 }
    const progress = [call('z', usage(0, 10)), turnEnd([{ ...usage(0, 10), costUsd: 0.25 }])]
    expect(line(progress.map(event).reduce(advance, startProgress(before)))).toBe(
      '4 turns · 2 tool calls · 1.0k tokens · $0.7500 · 0s',
    )
  })

  test('what has cost nothing yet is not said to be free', () => {
    const before = { modelCalls: 0, toolCalls: 0, tokens: 0, costUsd: 0 }
    expect(line(startProgress(before))).not.toContain('$')
  })

  test('time in whole seconds', () => {
    const progress = seen({ type: 'note', text: '' })
    expect(
      [0.9, 59, 61, 3599, 7260, -5].map((seconds) => line(progress, seconds).split(' · ').at(-1)),
    ).toEqual(['0s', '59s', '1m 1s', '59m 59s', '2h 1m', '0s'])
  })

  test('what changes nothing gives the same object', () => {
    const progress = seen({ type: 'note', text: '' })
    expect(advance(progress, event({ type: 'text-delta', text: 'x' }))).toBe(progress)
  })
})

test('text that fits', () => {
  expect(fitColumns('abc', 3)).toBe('abc')
  expect(fitColumns('abcd', 3)).toBe('ab…')
  expect(fitColumns('漢字', 4)).toBe('漢字')
  expect(fitColumns('漢字', 3)).toBe('漢…')
  expect(fitColumns('🙂🙂', 3)).toBe('🙂…')
  expect([
    lengthAfter(3, 'ab'),
    lengthAfter(3, 'a\nb'),
    lengthAfter(0, '漢'),
    lengthAfter(null, 'b\n'),
  ]).toEqual([5, 1, null, 0])
})

describe('on a terminal', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: START })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const WIDTH = 60
  const contextOn = (screen: Screen, change: Partial<CliContext> = {}) =>
    ({
      env: { TERM: 'xterm' },
      stdout: screen.stream(),
      stderr: screen.stream(),
      json: false,
      ...change,
    }) as CliContext
  const open = (change: Partial<CliContext> = {}, height?: number) => {
    const screen = createScreen(WIDTH, height)
    const view = createRunView(contextOn(screen, change), { announceResume: true })
    const say = (text: string) => view.show(event({ type: 'text-delta', text }))
    const pause = () => vi.advanceTimersByTimeAsync(150)
    /** Until words are shown, and the status line below them. */
    const words = () => vi.advanceTimersByTimeAsync(210)
    return { screen, view, say, pause, words }
  }
  const STATUS = '0 turns · 0 tool calls · 0 tokens · 0s'

  test('is beneath what is said, also in the middle of a line, and gone at the end', async () => {
    const { screen, view, say, pause, words } = open()
    await say('Hello you ')
    await words()
    expect(screen.rows()).toEqual(['Hello you', STATUS])
    await say('there, ')
    await pause()
    expect(screen.rows()).toEqual(['Hello you there,', STATUS])
    await say('all.\nAnd ')
    expect(screen.rows()).toEqual(['Hello you there, all.'])
    await words()
    expect(screen.rows()).toEqual(['Hello you there, all.', 'And', STATUS])
    await say('now\n')
    await pause()
    expect(screen.rows()).toEqual(['Hello you there, all.', 'And now', STATUS])
    view.note('a note')
    await pause()
    expect(screen.rows()).toEqual(['Hello you there, all.', 'And now', 'a note', STATUS])
    await say('Bye')
    await pause()
    await view.end()
    expect(screen.rows()).toEqual(['Hello you there, all.', 'And now', 'a note', 'Bye'])
  })

  test('text without an end is shown after a pause, and before a tool call', async () => {
    const { screen, view, say } = open({ env: { NO_COLOR: '1' } })
    await say('Loo')
    await vi.advanceTimersByTimeAsync(900)
    expect(screen.rows()).toEqual([])
    await vi.advanceTimersByTimeAsync(100)
    expect(screen.rows()).toEqual(['Loo'])
    await say('king at **it')
    await view.show(event(tool('1', 'ls')))
    expect(screen.rows()).toEqual(['Looking at **it', '· Bash ls'])
    await say(' all\n')
    await view.end()
    expect(screen.rows()).toEqual(['Looking at **it', '· Bash ls', 'all'])
  })

  test('a tool is named as long as it runs; time goes on', async () => {
    const { screen, view, pause } = open()
    await view.show(event(tool('1', `sleep ${'9'.repeat(200)}`)))
    await pause()
    const status = screen.rows().at(-1)!
    expect(status).toMatch(/^0 turns · 1 tool call · 0 tokens · 0s · Bash sleep 9+…$/)
    expect(status.length).toBeLessThan(WIDTH)
    await vi.advanceTimersByTimeAsync(5000)
    expect(screen.rows().at(-1)).toContain(' · 5s · ')
    await view.show(event(toolEnd('1')))
    await pause()
    expect(screen.rows().at(-1)).toMatch(/5s$/)
    await view.end()
  })

  test('a stream of text does not make it flicker', async () => {
    const { screen, view, say, pause } = open()
    for (let word = 0; word < 40; word++) await say('a')
    await pause()
    for (let word = 0; word < 10; word++) await say('b')
    expect(screen.written(STATUS)).toBe(1)
    // Nothing new to say: nothing is written.
    const before = screen.raw()
    view.show(event({ type: 'thinking-delta', text: 'hm' }))
    await pause()
    expect(screen.raw()).toBe(before)
    await view.end()
  })

  test('where the cursor is not sure it stays away', async () => {
    const { screen, view, say, words } = open()
    await say('漢字 ')
    await words()
    expect(screen.rows()).toEqual(['漢字'])
    await say('\n')
    await say(`${'x'.repeat(WIDTH)} `)
    await words()
    expect(screen.rows()).toEqual(['漢字', 'x'.repeat(WIDTH)])
    await say('x ')
    await words()
    expect(screen.rows()).toEqual(['漢字', 'x'.repeat(WIDTH), 'x', STATUS])
    await view.end()
  })

  test('what is typed is in its place, with the cursor in sight, also without colours', async () => {
    for (const change of [{}, { env: { TERM: 'xterm', NO_COLOR: '1' } }]) {
      const { screen, view, say, pause, words } = open(change)
      await say('Hello you ')
      await words()
      view.showTyped({ before: 'use sta', after: 'ging' })
      expect(screen.rows()).toEqual(['Hello you', '› use sta▏ging'])
      await say('there.\nAnd ')
      await words()
      expect(screen.rows()).toEqual(['Hello you there.', 'And', '› use sta▏ging'])
      view.showTyped({ before: `${'long '.repeat(30)}end`, after: ' of it' })
      expect(screen.rows().at(-1)).toMatch(/^….*long end▏ of it$/)
      expect(screen.rows().at(-1)!.length).toBeLessThan(WIDTH)
      view.note('a note')
      view.showTyped(null)
      await pause()
      const rows = ['Hello you there.', 'And', 'a note']
      expect(screen.rows()).toEqual('env' in change ? rows : [...rows, STATUS])
      await view.end()
      expect(screen.rows()).toEqual(rows)
    }
  })

  test('gives way to a question', async () => {
    const { screen, view, say, pause } = open()
    await say('Hm.\n')
    await pause()
    const release = view.giveWay()
    expect(screen.rows()).toEqual(['Hm.'])
    await vi.advanceTimersByTimeAsync(3000)
    expect(screen.rows()).toEqual(['Hm.'])
    release()
    await pause()
    expect(screen.rows()).toHaveLength(2)
    await view.end()
  })

  test('stdout that goes elsewhere gets the words and nothing else', async () => {
    const words = createScreen(1000)
    const elsewhere = Object.assign(words.stream(), { isTTY: false })
    const { screen, view, say, pause } = open({ stdout: elsewhere })
    await say('Hel')
    await pause()
    await say('lo\n漢')
    await pause()
    expect(screen.rows()).toEqual([STATUS])
    await view.end()
    expect(screen.rows()).toEqual([])
    expect(words.raw()).toBe('Hello\n漢\n')
  })

  test.each<[string, Partial<CliContext>]>([
    ['NO_COLOR', { env: { NO_COLOR: '1' } }],
    ['TERM=dumb', { env: { TERM: 'dumb' } }],
    ['--json', { json: true }],
  ])('%s: there is none', async (_, change) => {
    const { screen, view, say } = open(change)
    await say('Hello')
    await vi.advanceTimersByTimeAsync(5000)
    await view.end()
    expect(screen.raw()).toBe('Hello\n')
  })

  test('no terminal: there is none', async () => {
    const screen = createScreen(WIDTH)
    const pipe = () => Object.assign(screen.stream(), { isTTY: false })
    const view = createRunView(contextOn(screen, { stdout: pipe(), stderr: pipe() }), {
      announceResume: true,
    })
    await view.show(event({ type: 'text-delta', text: 'Hello' }))
    await vi.advanceTimersByTimeAsync(5000)
    await view.end()
    expect(screen.raw()).toBe('Hello\n')
  })

  test('what is printed while room is made is not the answer', async () => {
    const { screen, view } = open()
    const start = { type: 'attempt-start', agentSessionId: 'x', resumed: true, carry: 'none' } as const
    await view.show(event({ ...start, number: 1, makesRoom: true }))
    await view.show(event({ type: 'text-end', text: 'Error: No messages to compact' }))
    await view.show(event({ ...start, number: 2 }))
    await view.show(event({ type: 'text-end', text: 'Here.' }))
    await view.end()
    expect(screen.raw()).toContain('Here.')
    expect(screen.raw()).not.toContain('Error')
  })

  test('a request that got no answer is told as what it was', async () => {
    const { screen, view } = open()
    await view.show(event({ type: 'retry-wait', number: 1, maxRetries: 10, delayMs: 618 }))
    await view.end()
    expect(screen.raw()).toContain('request to the model failed (no connection); retry 1 of 10 in 618ms')
  })

  test('whatever is said when, the text is what it would be without it', async () => {
    const piece = fc.oneof(
      // Without colours, which only one of the two has, marks of Markdown would stay.
      fc.string({ maxLength: 80 }).map((text) => text.replaceAll(/[^\x20-\x7e]|[#*_`]/g, '.')),
      fc.constantFrom('\n', 'ü', '…', '漢', '\t', 'a\nb', ' '),
      fc.constantFrom({ wait: 150 }, { wait: 1000 }, { note: 'a note' }, { tool: 'ls' }),
      fc.constantFrom({ typed: null }, { typed: { before: 'use \t漢', after: 'x'.repeat(90) } }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.constantFrom(3, 24), async (pieces, height) => {
        const shown = open({}, height)
        const plain = open({ env: { TERM: 'dumb' } }, height)
        for (const item of pieces) {
          for (const { view, say } of [shown, plain]) {
            if (typeof item === 'string') await say(item)
            else if ('note' in item) view.note(item.note)
            else if ('typed' in item) view.showTyped(item.typed)
            else if ('tool' in item) await view.show(event(tool(String(seq), item.tool)))
          }
          if (typeof item === 'object' && 'wait' in item) await vi.advanceTimersByTimeAsync(item.wait)
        }
        await shown.view.end()
        await plain.view.end()
        expect(shown.screen.rows()).toEqual(plain.screen.rows())
      }),
      { numRuns: 300 },
    )
  })
})
