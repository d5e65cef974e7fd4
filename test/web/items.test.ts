import { expect, test } from 'vitest'
import type { EventBody, RunEvent } from '../../src/contract/events.ts'
import { clip, inert, quoteForShell, resultText, shorten } from '../../web/format/text.ts'
import { toYaml } from '../../web/format/yaml.ts'
import { Transcript } from '../../web/transcript/items.ts'

const RUN = 'run_01ARZ3NDEKTSV4RRFFQ69G5FAV'

const log = (...bodies: EventBody[]): RunEvent[] =>
  bodies.map((body, index) => ({
    ...body,
    runId: RUN,
    seq: index + 1,
    attemptId: null,
    at: new Date(index * 1000).toISOString(),
  }))

const takeAll = (transcript: Transcript, events: readonly RunEvent[]) => {
  for (const event of events) transcript.take(event)
}

test('text grows by its pieces and is replaced by the whole', () => {
  const events = log(
    { type: 'text-delta', text: 'Hel' },
    { type: 'text-delta', text: 'lo' },
    { type: 'text-end', text: 'Hello.' },
    { type: 'text-delta', text: 'Next' },
  )
  const transcript = new Transcript()
  takeAll(transcript, events.slice(0, 2))
  expect(transcript.items).toMatchObject([{ kind: 'text', text: 'Hello', open: true }])
  takeAll(transcript, events.slice(2))
  expect(transcript.items).toMatchObject([
    { text: 'Hello.', open: false },
    { text: 'Next', open: true },
  ])
})

test('a tool call gets its result; one without a result when the attempt ends has an unknown outcome', () => {
  const transcript = new Transcript()
  takeAll(
    transcript,
    log(
      {
        type: 'tool-start',
        toolUseId: 'a',
        name: 'Bash',
        input: { command: 'ls' },
        kind: 'shell',
        command: 'ls',
      },
      { type: 'tool-start', toolUseId: 'b', name: 'Read', input: {}, kind: 'read', paths: ['x'] },
      { type: 'tool-end', toolUseId: 'a', isError: false, content: 'x' },
      {
        type: 'attempt-end',
        number: 1,
        outcome: { name: 'crashed', message: 'gone' },
        exitCode: null,
        strays: 0,
      },
    ),
  )
  expect(transcript.items).toMatchObject([
    { kind: 'tool', about: 'ls', result: { isError: false, content: 'x' } },
    { kind: 'tool', about: 'x', result: null, endedAt: expect.any(String) },
    { kind: 'end', of: 'attempt', outcome: { name: 'crashed' } },
  ])
})

test('a request is marked as one for a person until it is answered; reminders are told', () => {
  const ask = {
    requestId: 'r1',
    toolUseId: 't1',
    tool: 'Bash',
    input: { command: 'ls' },
    via: 'prompt',
  } as const
  const events = log(
    { type: 'permission-ask', ...ask },
    { type: 'question-answer', toolUseId: 't1', decision: 'allow', by: 'policy' },
    { type: 'reminder', requestId: 'r2', whole: true },
    { type: 'reminder', requestId: 'r3', whole: false },
  )
  const transcript = new Transcript()
  takeAll(transcript, events.slice(0, 1))
  expect(transcript.items).toMatchObject([{ text: 'asks to use Bash', standing: 'ask' }])
  takeAll(transcript, events.slice(1))
  expect(transcript.items).toMatchObject([
    { text: 'asks to use Bash', standing: null },
    { text: 'a rule allowed it', standing: 'done' },
    { text: 'was told its instructions and its task again' },
    { text: expect.stringContaining('the task was shortened') },
  ])
})

test('a path in a command is one word of the shell', () => {
  expect(quoteForShell('/srv/site-1')).toBe('/srv/site-1')
  expect(quoteForShell("/srv/it's $(here)")).toBe("'/srv/it'\\''s $(here)'")
})

test('only what changed becomes another object', () => {
  const events = log(
    { type: 'text-end', text: 'one' },
    { type: 'text-delta', text: 'two' },
    { type: 'text-delta', text: '!' },
  )
  const transcript = new Transcript()
  takeAll(transcript, events.slice(0, 2))
  const [one, two] = transcript.items
  takeAll(transcript, events.slice(2))
  expect(transcript.items[0]).toBe(one)
  expect(transcript.items[1]).not.toBe(two)
})

test('terminal sequences disappear, hidden characters are shown', () => {
  expect(inert('\u001b[31mred\u001b[0m \u001b]0;title\u0007done')).toBe('red done')
  expect(inert('a\u202Eb\u200Bc')).toBe('a\\u{202e}b\\u{200b}c')
  expect(inert('\u001b]8;;http://evil.example\u001b\\link\u001b]8;;\u001b\\')).toBe('link')
})

test('long texts are cut, lines shortened in the middle', () => {
  expect(clip('x'.repeat(5_000_000), 10)).toEqual({ text: 'x'.repeat(10), rest: 4_999_990 })
  expect(shorten('/a/very/long/path/to/some/file.ts', 20)).toBe('/a/very/long…file.ts')
  expect(shorten('short', 20)).toBe('short')
})

test('results of tools are text, blocks or JSON', () => {
  expect(resultText('plain')).toBe('plain')
  expect(resultText([{ type: 'text', text: 'one' }, { type: 'image' }])).toBe('one\n[image]')
  expect(resultText({ a: 1 })).toBe('{\n  "a": 1\n}')
})

test('settings are shown as YAML', () => {
  expect(toYaml({ a: 1, b: { c: ['x', 'y: z'], d: [] }, e: {} })).toBe(
    'a: 1\nb:\n  c:\n    - x\n    - "y: z"\n  d: []\ne: {}',
  )
})
