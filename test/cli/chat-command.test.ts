import { describe, expect, test } from 'vitest'
import { type ChatInput, chatHelp, parseChatInput } from '../../src/cli/chat/command.ts'

test.each<[string, ChatInput | null]>([
  ['', null],
  [' \n ', null],
  ['  hello\nthere ', { kind: 'say', text: 'hello\nthere' }],
  ['what is /etc?', { kind: 'say', text: 'what is /etc?' }],
  ['//etc/hosts is odd', { kind: 'say', text: '/etc/hosts is odd' }],
  ['///', { kind: 'say', text: '//' }],
  ['/compact', { kind: 'say', text: '/compact' }],
  ['/compact keep the plan', { kind: 'say', text: '/compact keep the plan' }],
  ['//context', { kind: 'say', text: '/context' }],
  ['/help', { kind: 'help' }],
  ['/HISTORY', { kind: 'history' }],
  ['/edit 3 new text', { kind: 'edit', number: 3, text: 'new text' }],
  ['/edit 3 two\nlines', { kind: 'edit', number: 3, text: 'two\nlines' }],
  ['/edit 3\nbelow', { kind: 'edit', number: 3, text: 'below' }],
  ['/drop 12', { kind: 'drop', number: 12 }],
  ['/retry', { kind: 'retry', number: null }],
  ['/retry 2', { kind: 'retry', number: 2 }],
  ['/fresh', { kind: 'fresh' }],
  ['/agent', { kind: 'agent', name: null }],
  ['/agent  other ', { kind: 'agent', name: 'other' }],
  ['/model opus', { kind: 'model', name: 'opus' }],
  ['/model', { kind: 'model', name: null }],
  ['/instructions', { kind: 'instructions', change: { to: 'show' } }],
  ['/instructions -', { kind: 'instructions', change: { to: 'clear' } }],
  ['/instructions - be brief', { kind: 'instructions', change: { to: 'text', text: '- be brief' } }],
  ['/instructions Be brief.', { kind: 'instructions', change: { to: 'text', text: 'Be brief.' } }],
  ['/instructions @a file.md', { kind: 'instructions', change: { to: 'file', path: 'a file.md' } }],
  ['/title A name', { kind: 'title', text: 'A name' }],
  ['/info', { kind: 'info' }],
  ['/stop', { kind: 'stop' }],
  ['/quit', { kind: 'quit' }],
])('%j', (typed, expected) => {
  expect(parseChatInput(typed)).toEqual(expected)
})

describe('is never sent, but explained', () => {
  test.each([
    ['/histroy', 'unknown command /histroy', 'Did you mean /history?'],
    ['/usr/bin/env is missing', 'unknown command /usr/bin/env', '/help lists the commands.'],
    ['/', 'unknown command /', 'type two: //'],
    ['/edit', 'expected /edit N new text', 'type two: //'],
    ['/edit 0 x', 'expected /edit N new text', ''],
    ['/edit one x', 'expected /edit N new text', ''],
    ['/edit 3', 'expected /edit N new text', ''],
    ['/drop', 'expected /drop N', ''],
    ['/drop 1 2', 'expected /drop N', ''],
    ['/drop 99999999999999999999', 'expected /drop N', ''],
    ['/retry last', 'expected /retry [N]', ''],
    ['/agent a b', 'expected /agent [NAME]', ''],
    ['/title', 'expected /title TEXT', ''],
    ['/quit now', 'expected /quit', ''],
  ])('%j', (typed, message, hint) => {
    const input = parseChatInput(typed)
    expect(input).toMatchObject({ kind: 'mistake' })
    if (input?.kind !== 'mistake') return
    expect(input.message).toContain(message)
    expect(input.hint).toContain(hint)
  })
})

test('the help names every command', () => {
  const text = chatHelp().join('\n')
  for (const name of ['help', 'history', 'edit', 'drop', 'retry', 'fresh', 'agent', 'model', 'title', 'info'])
    expect(text).toContain(`/${name}`)
})
