/** Events as the stored text: a reader must find what the agent said. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseClaudeLine } from '../../src/agents/claude/parse.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import { type Behaviour, capturedLines } from '../agents/captured.ts'
import { SCENES } from '../agents/fixtures/capture.ts'
import { checkProperty } from '../core/random.ts'

function batchOf(line: string): EventBatch {
  const batch = new EventBatch()
  batch.add(parseClaudeLine(line), line)
  return batch
}

/** What is sent to readers. */
const readBack = (batch: EventBatch) => batch.texts.map((text) => JSON.stringify(JSON.parse(text)))
const said = (line: string) => parseClaudeLine(line).map((body) => JSON.stringify(body))

describe('what is read back', () => {
  it.each(Object.keys(SCENES) as Behaviour[])('is what the CLI said: %s', (behaviour) => {
    for (const line of capturedLines(behaviour)) expect(readBack(batchOf(line))).toEqual(said(line))
  })

  it.each([
    ' { "type" : "new" , "a" : [ 1 , 2 ] }\t',
    '{"type":"new","type":"newer","__proto__":{"a":1}}',
    '{"type":"a\\"b","s":"\\ud800\\u0000\u2028"}',
    '{"type":"new","n":[1e999,-0,1.0,12345678901234567890]}',
  ])('is what the line says, however it is written: %s', (line) => {
    expect(batchOf(line).types).toEqual(['native'])
    expect(readBack(batchOf(line))).toEqual(said(line))
  })

  it('is what the line says, whatever it is', () => {
    checkProperty(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (line) => {
        expect(readBack(batchOf(line))).toEqual(said(line))
      }),
      2000,
    )
  })
})

describe('a batch', () => {
  it('keeps what is acted on, in order', () => {
    const batch = EventBatch.of([
      { type: 'note', text: 'a' },
      { type: 'question-cancel', requestId: 'r' },
      { type: 'text-delta', text: 'b' },
      { type: 'tool-end', toolUseId: 't', isError: false, content: 'c' },
    ])
    expect(batch.types).toEqual(['note', 'question-cancel', 'text-delta', 'tool-end'])
    expect(batch.actedOn.map(({ type }) => type)).toEqual(['question-cancel', 'tool-end'])
  })

  it('takes all events of a line, or none if one is nested too deeply to be serialised', () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const call = `{"type":"tool_use","id":"t","name":"n","input":${nested}}`
    const batch = EventBatch.of([{ type: 'note', text: 'before' }])
    for (const line of [
      `{"type":"new","deep":${nested}}`,
      `{"type":"assistant","message":{"id":"m","usage":{},"content":[${call}]}}`,
    ]) {
      expect(() => batch.add(parseClaudeLine(line), line)).toThrow(RangeError)
    }
    expect(batch.types).toEqual(['note'])
    expect(batch.size).toBe(1)
  })
})
