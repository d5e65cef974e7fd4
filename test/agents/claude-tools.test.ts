/** Claude Code's tools in neutral words, as all code but the adapter sees them. */
import { describe, expect, it } from 'vitest'
import { describeClaudeTool } from '../../src/agents/claude/describe-tool.ts'
import { aboutTool } from '../../src/contract/about-tool.ts'
import { ToolDescription } from '../../src/contract/tool.ts'
import { capturedEvents, only } from './captured.ts'

describe('a tool call', () => {
  it.each([
    ['Bash', { command: 'ls -l' }, { kind: 'shell', command: 'ls -l' }],
    [
      'Bash',
      { command: 'serve', run_in_background: true },
      { kind: 'shell', command: 'serve', background: true },
    ],
    ['Write', { file_path: '/a', content: 'x' }, { kind: 'write', paths: ['/a'] }],
    ['NotebookEdit', { notebook_path: '/n.ipynb' }, { kind: 'write', paths: ['/n.ipynb'] }],
    ['Read', { file_path: '/a' }, { kind: 'read', paths: ['/a'] }],
    ['Grep', { pattern: 'x+', path: 'src' }, { kind: 'read', paths: ['src'], subject: 'x+' }],
    ['WebFetch', { url: 'http://127.0.0.1/' }, { kind: 'read', subject: 'http://127.0.0.1/' }],
    [
      'Task',
      { description: 'look', prompt: 'look around', run_in_background: true },
      { kind: 'agent', subject: 'look', background: true },
    ],
    [
      'AskUserQuestion',
      { questions: [{ question: 'Which?' }, 'odd'] },
      { kind: 'question', questions: ['Which?'] },
    ],
    ['CronCreate', { cron: '* * * * *', prompt: 'again' }, { kind: 'schedule', subject: 'again' }],
    ['CronList', {}, { kind: 'schedule' }],
    ['TodoWrite', { todos: [] }, { kind: 'other', internal: true }],
    ['mcp__pager__call', { query: 'who' }, { kind: 'other', subject: 'who' }],
  ])('%s %j', (name, input, described) => {
    expect(describeClaudeTool(name, input)).toEqual(described)
  })

  it('is described for any input', () => {
    for (const input of [null, 7, 'x', [], { command: 1, file_path: {}, questions: 'odd' }]) {
      for (const name of ['Bash', 'Edit', 'Read', 'Task', 'AskUserQuestion', 'unheard-of']) {
        expect(ToolDescription.parse(describeClaudeTool(name, input))).toEqual(describeClaudeTool(name, null))
      }
    }
  })
})

it('events include the description of the tools that the CLI called', () => {
  const events = capturedEvents('tool-turn')
  for (const { name, input, kind, command } of only(events, 'tool-start')) {
    expect({ kind, command }).toEqual({ kind: 'shell', command: describeClaudeTool(name, input).command })
  }
  expect(only(capturedEvents('asks-permission'), 'permission-ask')[0]).toMatchObject({
    kind: expect.stringMatching(/shell|write/),
  })
})

it('is described in one text: command, files, subject or questions; otherwise its input', () => {
  expect(aboutTool({ command: 'ls', paths: ['/a'] })).toBe('ls')
  expect(aboutTool({ paths: ['/a', '/b'], subject: 'x' })).toBe('/a, /b')
  expect(aboutTool({ questions: ['Which?', 'When?'] })).toBe('Which? / When?')
  expect(aboutTool({ input: { a: 1 } })).toBe('{"a":1}')
  expect(aboutTool({ kind: 'other' })).toBe('')
})
