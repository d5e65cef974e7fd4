/** When an agent is done: its own `turn-end` is not always sufficient. */
import { expect, it } from 'vitest'
import type { EventBody } from '../../src/contract/events.ts'
import { endOfTurn, followTurn, NEW_TURN } from '../../src/core/turn.ts'

const at = (s: number) => new Date(s * 1000)
const accept: EventBody = { type: 'prompt-accept', messageId: 'p' }
const start: EventBody = { type: 'session-start', agentSessionId: 's' }
const helpers = (tasks: number): EventBody => ({ type: 'background', tasks })
const end = (text: string, turns = 1): EventBody => ({
  type: 'turn-end',
  outcome: { name: 'completed', message: '' },
  text,
  turns,
})
const failed: EventBody = { type: 'turn-end', outcome: { name: 'api-error', message: 'lost' }, turns: 1 }

const events = (bodies: EventBody[]) => bodies.map((body, i) => ({ body, at: at(i) }))
const textOf = (...bodies: EventBody[]) => endOfTurn(events(bodies), 'p')?.text ?? null
const doneFrom = (...bodies: EventBody[]) =>
  events(bodies).reduce(
    (s, e) => followTurn(s, e.body, e.at.getTime(), { promptId: 'p', lingerMs: 3000 }),
    NEW_TURN,
  ).doneFromMs

it('a turn that ends with nobody at work is the end, at once', () => {
  expect(textOf(accept, start, end('done'))).toBe('done')
  expect(doneFrom(accept, start, end('done'))).toBe(at(2).getTime())
})

it('an agent that reports no prompts is done when it says so', () => {
  expect(textOf(start, end('done'))).toBe('done')
})

it('one that ends while sub-agents work is not', () => {
  expect(textOf(accept, start, helpers(1), end('wait'))).toBeNull()
  expect(textOf(accept, start, helpers(2), end('wait'), helpers(1), start, end('one'))).toBeNull()
})

it('the turn that follows from them is the end, also if it does not come', () => {
  const finished = [accept, start, helpers(1), end('wait'), helpers(0)]
  expect(textOf(...finished, start, end('found'))).toBe('found')
  expect(textOf(...finished)).toBe('wait')
  expect(doneFrom(...finished)).toBeGreaterThan(at(4).getTime())
  expect(textOf(...finished, start)).toBeNull()
})

it('a failure is the end, even while sub-agents work', () => {
  expect(doneFrom(accept, start, helpers(1), failed)).toBe(at(3).getTime())
})

it('a failure stays the end, although a sub-agent starts another turn', () => {
  const bodies = [accept, start, helpers(1), failed, helpers(0), start, end('answered')]
  expect(endOfTurn(events(bodies), 'p')?.outcome.name).toBe('api-error')
  expect(doneFrom(...bodies)).toBe(at(3).getTime())
})

it('after a failure, another prompt of ours begins another turn', () => {
  const queued: EventBody = { type: 'prompt-accept', messageId: 'm' }
  const bodies = [accept, start, failed, queued, start]
  expect(endOfTurn(events(bodies), 'p')).toBeNull()
  expect(textOf(...bodies, end('answered'))).toBe('answered')
  expect(endOfTurn(events([...bodies, failed]), 'p')?.outcome.name).toBe('api-error')
})

it('an empty turn before the prompt was accepted does not count; after that it does', () => {
  expect(textOf(start, end('', 0))).toBeNull()
  expect(textOf(start, end('', 0), accept, start, end('done'))).toBe('done')
  expect(textOf(accept, end('', 0))).toBe('')
  expect(endOfTurn(events([start, { ...failed, turns: 0 } as EventBody]), 'p')?.outcome.name).toBe(
    'api-error',
  )
})

it('another prompt of ours begins another turn: what counts is how that ends', () => {
  const another: EventBody = { type: 'prompt-accept', messageId: 'follow-up' }
  const first = [accept, start, end('planned')]
  expect(textOf(...first, another)).toBeNull()
  expect(textOf(...first, another, start)).toBeNull()
  expect(textOf(...first, another, start, end('verified'))).toBe('verified')
  expect(doneFrom(...first, another, start, end('verified'))).toBe(at(5).getTime())
  expect(textOf(...first, another, end('verified'), { ...another, messageId: 'third' })).toBeNull()
})

it('another prompt that is taken while sub-agents work is waited for with them', () => {
  const another: EventBody = { type: 'prompt-accept', messageId: 'follow-up' }
  const before = [accept, start, helpers(1), end('wait'), another, start, end('verified')]
  expect(textOf(...before)).toBeNull()
  expect(textOf(...before, helpers(0))).toBe('verified')
})

it('a second report of the same prompt changes nothing', () => {
  expect(textOf(accept, start, end('done'), accept)).toBe('done')
})
