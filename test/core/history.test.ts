/** Conversations: the view of an agent, how answers are composed, how they are rendered later. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { ContentBlock } from '../../src/contract/conversation.ts'
import type { EventBody } from '../../src/contract/events.ts'
import { composeAnswer, createClip } from '../../src/core/history/answer.ts'
import { renderBlocks, toPastTurns } from '../../src/core/history/render.ts'
import { catchUpFor, type HistoryMessage, isHistoryChanged, viewFor } from '../../src/core/history/view.ts'
import { composePrompt } from '../../src/core/prompt/compose.ts'
import { decideRoom } from '../../src/core/room/decide.ts'

const message = (
  turn: number,
  role: 'user' | 'assistant',
  agent: string,
  text: string,
  revision = 1,
): HistoryMessage => ({
  id: `${turn}${role}`,
  turn,
  role,
  agent,
  blocks: [{ type: 'text', text }],
  state: 'complete',
  revision,
})

const TALK = [
  message(1, 'user', 'a', 'u1'),
  message(1, 'assistant', 'a', 'a1'),
  message(2, 'user', 'b', 'u2'),
  message(2, 'assistant', 'b', 'b2'),
  message(3, 'user', 'a', 'u3'),
  message(3, 'assistant', 'a', 'a3'),
]
const texts = (messages: readonly HistoryMessage[]) => messages.map((m) => renderBlocks(m.blocks))

describe('the view of an agent', () => {
  it('is everything when the history is shared', () => {
    expect(texts(viewFor('b', TALK, 'shared'))).toEqual(['u1', 'a1', 'u2', 'b2', 'u3', 'a3'])
  })

  it('begins after the latest answer of another agent otherwise', () => {
    expect(texts(viewFor('a', TALK, 'agent'))).toEqual(['u3', 'a3'])
    expect(texts(viewFor('b', TALK, 'agent'))).toEqual([])
    expect(texts(viewFor('a', TALK.slice(0, 2), 'agent'))).toEqual(['u1', 'a1'])
  })

  it('is completed by the messages since the last turn of its session', () => {
    expect(texts(catchUpFor('a', TALK, 'shared', 1))).toEqual(['u2', 'b2', 'u3', 'a3'])
    expect(texts(catchUpFor('a', TALK.slice(0, 4), 'agent', 1))).toEqual([])
    // A question that another agent never answered is no boundary.
    expect(texts(catchUpFor('a', TALK.slice(0, 3), 'agent', 1))).toEqual(['u2'])
  })

  it('is not completed by what was said in its own session outside Reprise; that of others is', () => {
    const outside = (agent: string) => [
      ...TALK.slice(0, 2),
      { ...message(2, 'user', agent, 'by hand'), origin: 'outside' as const },
      { ...message(2, 'assistant', agent, 'said'), origin: 'outside' as const },
    ]
    expect(texts(catchUpFor('a', outside('a'), 'shared', 1))).toEqual([])
    expect(texts(catchUpFor('a', outside('b'), 'shared', 1))).toEqual(['by hand', 'said'])
    const branch = outside('a').map((m) => (m.origin ? { ...m, origin: 'outside-branch' as const } : m))
    expect(texts(catchUpFor('a', branch, 'shared', 1))).toEqual(['by hand', 'said'])
    expect(toPastTurns(branch).map(({ origin }) => origin)).toEqual([undefined, 'outside-branch'])
  })
})

describe('a change of the history', () => {
  const edited = (id: string) => TALK.map((m) => (m.id === id ? { ...m, revision: 2 } : m))

  it.each([
    ['a', 'shared', 3, '1user', true],
    ['a', 'shared', 1, '2user', false],
    ['a', 'agent', 3, '2assistant', false],
    ['a', 'agent', 3, '3user', true],
    ['a', 'agent', 3, '1user', true],
    ['b', 'agent', 2, '1assistant', false],
    ['b', 'agent', 2, '2user', true],
  ] as const)('agent %s, %s, seen up to turn %i, %s edited: stale %s', (agent, scope, seen, id, stale) => {
    expect(isHistoryChanged(agent, scope, { since: 1, upTo: seen }, TALK, edited(id))).toBe(stale)
  })

  it('before the first turn of a session leaves it alone', () => {
    expect(isHistoryChanged('a', 'agent', { since: 3, upTo: 3 }, TALK, edited('1user'))).toBe(false)
    expect(isHistoryChanged('a', 'shared', { since: 3, upTo: 3 }, TALK, edited('1user'))).toBe(true)
  })

  it('that removes the boundary set by another agent changes what the agent was given', () => {
    expect(isHistoryChanged('a', 'agent', { since: 3, upTo: 3 }, TALK, TALK.slice(0, 3))).toBe(true)
  })
})

describe('an answer', () => {
  it('has the texts and tools in order, without texts of sub-agents, and with the part of an unfinished text', () => {
    const events: EventBody[] = [
      { type: 'text-delta', text: 'Hel' },
      { type: 'text-end', text: 'Hello.' },
      { type: 'tool-start', toolUseId: 't', name: 'Bash', input: { command: 'ls' } },
      { type: 'text-end', text: 'inner', parentToolUseId: 't' },
      { type: 'tool-end', toolUseId: 't', isError: false, content: 'a' },
      { type: 'text-delta', text: 'And th' },
    ]
    expect(composeAnswer(events)).toEqual([
      { type: 'text', text: 'Hello.' },
      { type: 'tool-use', toolUseId: 't', name: 'Bash', input: { command: 'ls' } },
      { type: 'tool-result', toolUseId: 't', isError: false, content: 'a' },
      { type: 'text', text: 'And th' },
    ])
  })
})

describe('an answer with very much tool output', () => {
  it('keeps each result in short, so that the message can be stored', () => {
    const content = [{ type: 'text', text: 'x'.repeat(1_000_000) }]
    const events: EventBody[] = [{ type: 'tool-end', toolUseId: 't', isError: false, content }]
    const stored = JSON.stringify(composeAnswer(events))
    expect(stored.length).toBeLessThan(20_000)
    expect(stored).toContain('more characters')
    expect(composeAnswer([{ ...events[0]!, content: 'short' } as EventBody])[0]).toMatchObject({
      content: 'short',
    })
  })
})

describe('an answer with very many tool results', () => {
  const flood = (count: number, chars: number) => {
    const clip = createClip()
    return Array.from({ length: count }, (_, n) => {
      const content = JSON.parse(JSON.stringify(`${n}`.padEnd(chars, 'x')))
      return composeAnswer([{ type: 'tool-end', toolUseId: `t${n}`, isError: false, content }], clip)
    }).flat()
  }

  it('keeps less of each once the total is large, and says how much it left out', () => {
    const contents = flood(600, 20_000).map((block) => (block as { content: string }).content)
    expect(contents[0]).toHaveLength(16_000 + '… (4000 more characters)'.length)
    expect(contents[599]).toBe(`${'599'.padEnd(1000, 'x')}… (19000 more characters)`)
    expect(contents.join('').length).toBeLessThan(2_000_000)
  })

  it('does not hold what it leaves out', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    collect()
    const before = process.memoryUsage().heapUsed
    const kept = flood(64, 1 << 20)
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 << 20)
    expect(kept).toHaveLength(64)
  })
})

describe('a later reader', () => {
  const ask: ContentBlock = {
    type: 'tool-use',
    toolUseId: 'q',
    name: 'AskUserQuestion',
    input: { questions: [{ question: 'Red?' }] },
  }

  it('sees questions with their answers, and none that looks open', () => {
    expect(renderBlocks([ask, { type: 'tool-result', toolUseId: 'q', isError: false, content: 'yes' }])).toBe(
      '[asked: Red? — answered: yes]',
    )
    expect(renderBlocks([ask])).toContain('no longer open')
  })

  it('sees what tools did, with all that they were given and printed', () => {
    const tool: ContentBlock = { type: 'tool-use', toolUseId: 't', name: 'Bash', input: { command: 'make' } }
    const failed: ContentBlock = {
      type: 'tool-result',
      toolUseId: 't',
      isError: true,
      content: [{ type: 'text', text: 'x'.repeat(5000) }],
    }
    const line = renderBlocks([tool, failed])
    expect(line).toMatch(/^\[used Bash \{"command":"make"\} → failed: xxx/)
    expect(line.length).toBeGreaterThan(5000)
    expect(renderBlocks([tool])).toContain('outcome unknown')
  })

  it('sees who answered, and where it was cut off', () => {
    const [turn] = toPastTurns([
      message(1, 'user', 'a', 'u'),
      { ...message(1, 'assistant', 'b', 'half'), state: 'cancelled' },
    ])
    const text = composePrompt({
      decision: { kind: 'fresh', reason: 'forced', carry: 'transcript' },
      prompt: 'now',
      turns: [turn!],
      interruption: null,
    }).texts.join('\n')
    expect(text).toContain('<assistant agent="b">\nhalf')
    expect(text).toContain('cancelled here')
  })
})

describe('room in a session', () => {
  const turn = (outcome: 'context-overflow' | 'completed' | 'crashed', resumed = true) => ({
    kind: 'turn' as const,
    resumed,
    outcome,
  })
  const compact = (outcome: 'completed' | 'api-error') => ({
    kind: 'compact' as const,
    resumed: true,
    outcome,
  })

  it.each([
    ['open', []],
    ['open', [turn('crashed')]],
    ['open', [turn('context-overflow', false)]],
    ['overflowed', [turn('context-overflow')]],
    ['made', [turn('context-overflow'), compact('completed')]],
    ['full', [turn('context-overflow'), compact('api-error')]],
    ['full', [turn('context-overflow'), compact('completed'), turn('context-overflow')]],
    ['used', [compact('completed'), turn('crashed')]],
  ] as const)('%s after %j', (kind, attempts) => {
    expect(decideRoom(attempts)).toEqual({ kind })
  })
})
