/** What is held back of a stream is told when its block ends, in its place. */
import { expect, it } from 'vitest'
import type { EventBody } from '../../src/contract/events.ts'
import { Deltas } from '../../src/core/redact/deltas.ts'
import { NOTHING_TO_REDACT, Redactor } from '../../src/core/redact/redactor.ts'

const redactor = new Redactor({ builtIn: false, patterns: [], values: ['hunter2'] })
const text = (said: string, by?: string): EventBody => ({
  type: 'text-delta',
  text: said,
  ...(by && { parentToolUseId: by }),
})
const thinking = (said: string): EventBody => ({ type: 'thinking-delta', text: said })
const end: EventBody = { type: 'text-end', text: 'all' }
const turnEnd: EventBody = { type: 'turn-end', outcome: { name: 'completed', message: '' } }

function pass(...bodies: EventBody[]): EventBody[] {
  const deltas = new Deltas(redactor)
  return [...bodies.flatMap((body, at) => deltas.pass([body], at)), ...deltas.flush()]
}

it('before the event that ends the block', () => {
  expect(pass(text('it is hun'), text('ter2'), end)).toEqual([text('it is '), text('[redacted]'), end])
})

it('before the next block, if that is of another kind', () => {
  expect(pass(thinking('hun'), thinking('ter'), text('2 '))).toEqual([thinking('hunter'), text('2 ')])
})

it('of each agent by itself', () => {
  expect(pass(text('hun'), text('a hun', 'toolu_1'), text('ter2 '), text('ter3', 'toolu_1'))).toEqual([
    text('a ', 'toolu_1'),
    text('[redacted] '),
    text('hunter3', 'toolu_1'),
  ])
})

it('not because of what else is told meanwhile', () => {
  const other: EventBody = { type: 'native', name: 'ping', line: {} }
  expect(pass(text('hun'), other, text('ter2'), turnEnd)).toEqual([other, text('[redacted]'), turnEnd])
})

it('at the end of the attempt at the latest', () => {
  expect(pass(text('one two'))).toEqual([text('one '), text('two')])
})

it('nothing, if there is nothing to look for', () => {
  expect(new Deltas(NOTHING_TO_REDACT).pass([text('hun')], 0)).toEqual([text('hun')])
})

it('and is found again by reading from where the oldest block began', () => {
  const lines = [
    text('so it is hun', 'toolu_1'),
    end,
    text('and '),
    text('a hun'),
    thinking('x'),
    text('hun'),
  ]
  const first = new Deltas(redactor)
  const told = lines.flatMap((line, at) => first.pass([line], at))
  expect(first.since).toBe(0)
  first.pass([{ ...end, parentToolUseId: 'toolu_1' } as EventBody], lines.length)
  expect(first.since).toBe(5)
  const second = new Deltas(redactor)
  for (let at = first.since!; at < lines.length; at++) second.pass([lines[at]!], at)
  expect([...told, ...second.pass([text('ter2 ')], 9)].at(-1)).toEqual(text('[redacted] '))
  expect(second.flush()).toEqual([])
})

it('nothing is to be read again when every block is over', () => {
  const deltas = new Deltas(redactor)
  expect(deltas.since).toBeNull()
  deltas.pass([text('hun')], 3)
  expect(deltas.since).toBe(3)
  deltas.pass([end], 4)
  expect(deltas.since).toBeNull()
})
