/** Histories of queries: as turns, limited in length, built from events, and without results that do not hold any more. */
import { describe, expect, it } from 'vitest'
import type { ContentBlock } from '../../src/contract/conversation.ts'
import type { HistoryMessage } from '../../src/contract/query.ts'
import { limitHistory } from '../../src/core/query/limit.ts'
import { MessageLog } from '../../src/core/query/messages.ts'
import { pastTurnsOf } from '../../src/core/query/past-turns.ts'
import { dropStale, type ResultFacts } from '../../src/core/query/stale.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)

const says = (role: HistoryMessage['role'], ...blocks: (string | ContentBlock)[]): HistoryMessage => ({
  role,
  blocks: blocks.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block)),
  at: NOW.toISOString(),
})
const call = (toolUseId: string, name = 'Tool'): ContentBlock => ({
  type: 'tool-use',
  toolUseId,
  name,
  input: {},
})
const result = (toolUseId: string, content = 'output'): ContentBlock => ({
  type: 'tool-result',
  toolUseId,
  isError: false,
  content,
})

describe('turns', () => {
  it('begin with a text of the user and contain the calls and results up to the next one', () => {
    const turns = pastTurnsOf([
      says('user', 'one'),
      says('assistant', 'I look.', call('a')),
      says('user', result('a')),
      says('assistant', 'Seen.'),
      says('user', 'two'),
    ])
    expect(turns).toMatchObject([
      {
        turn: 1,
        prompt: 'one',
        answer: [
          { kind: 'text', text: 'I look.' },
          { kind: 'tool', name: 'Tool', output: 'output' },
          { kind: 'text', text: 'Seen.' },
        ],
      },
      { turn: 2, prompt: 'two', answer: null },
    ])
  })

  it('begin without a prompt if the history begins with an answer', () => {
    expect(pastTurnsOf([says('assistant', 'hello')])).toMatchObject([
      { prompt: '', answer: [{ text: 'hello' }] },
    ])
    expect(pastTurnsOf([])).toEqual([])
  })
})

describe('the limit', () => {
  const texts = (messages: readonly HistoryMessage[]) =>
    messages.map(({ blocks }) => (blocks[0]?.type === 'text' ? blocks[0].text : blocks[0]?.type))

  it('leaves out the oldest messages and says how many', () => {
    const kept = limitHistory([says('user', 'aaaa'), says('assistant', 'bbbb'), says('user', 'cccc')], 9)
    expect(texts(kept)).toEqual([expect.stringContaining('1 earlier message is left out'), 'bbbb', 'cccc'])
  })

  it('leaves out results whose calls are left out', () => {
    const kept = limitHistory(
      [says('assistant', call('a')), says('user', result('a', 'x')), says('user', 'c')],
      2,
    )
    expect(texts(kept)).toEqual([expect.stringContaining('2 earlier messages'), 'c'])
  })

  it('keeps the newest message, however long it is, and everything if it fits', () => {
    expect(texts(limitHistory([says('user', 'a'), says('user', 'bbbbbbbb')], 3)).at(-1)).toBe('bbbbbbbb')
    const short = [says('user', 'a'), says('assistant', 'b')]
    expect(limitHistory(short, 100)).toEqual(short)
  })
})

describe('messages from events', () => {
  it('join what belongs together, and leave out sub-agents and compactions', () => {
    const log = new MessageLog()
    log.ask('question', NOW)
    log.note({ type: 'text-end', text: 'I look.' }, NOW)
    for (const toolUseId of ['a', 'b']) log.note({ type: 'tool-start', toolUseId, name: 'T', input: {} }, NOW)
    log.note({ type: 'text-end', text: 'nested', parentToolUseId: 'a' }, NOW)
    for (const toolUseId of ['a', 'b'])
      log.note({ type: 'tool-end', toolUseId, isError: false, content: 'c' }, NOW)
    const start = {
      type: 'attempt-start',
      number: 2,
      agentSessionId: 's',
      resumed: true,
      carry: 'none',
    } as const
    log.note({ ...start, makesRoom: true }, NOW)
    log.note({ type: 'text-end', text: 'a summary' }, NOW)
    log.note(start, NOW)
    log.note({ type: 'text-end', text: 'Done.' }, NOW)
    expect(log.messages.map(({ role, blocks }) => [role, ...blocks.map(({ type }) => type)])).toEqual([
      ['user', 'text'],
      ['assistant', 'text', 'tool-use', 'tool-use'],
      ['user', 'tool-result', 'tool-result'],
      ['assistant', 'text'],
    ])
  })
})

describe('a result', () => {
  const drop = (at: Date | null, files: ReturnType<ResultFacts['filesOf']> = []) => {
    const answered = { ...says('user', result('a')), at: at?.toISOString() ?? null }
    const facts = { filesOf: () => files, now: NOW, maxAgeMs: 30 * 60_000 }
    return dropStale([says('assistant', call('a', 'Reader')), answered], facts).dropped
  }

  it.each([
    [
      'about an unchanged file holds, however old',
      minutesAgo(1000),
      [{ path: 'f', before: 'h', now: 'h' }],
      [],
    ],
    ['about a file that is still missing holds', NOW, [{ path: 'f', before: null, now: null }], []],
    ['about a changed file does not', NOW, [{ path: 'f', before: 'h', now: 'i' }], ['f has changed since']],
    [
      'about a deleted file does not',
      NOW,
      [{ path: 'f', before: 'h', now: null }],
      ['f does not exist any more'],
    ],
    ['about something else holds for a while', minutesAgo(30), [], []],
    ['about something else does not hold longer', minutesAgo(31), [], ['it is 31m old']],
    ['of an unknown time does not hold', null, [], ['it is not known when it came']],
  ] as const)('%s', (_, at, files, reasons) => {
    expect(drop(at, files).map(({ reason }) => reason)).toEqual(reasons)
  })
})
