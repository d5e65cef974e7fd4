import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { runsLine } from '../../src/cli/commands/status.ts'
import { checkAgents } from '../../src/cli/doctor/agents.ts'
import { checkSandbox } from '../../src/cli/doctor/sandbox.ts'
import { type RunOptions, toRequest } from '../../src/cli/run/options.ts'
import { contentLine, toolLine } from '../../src/cli/run/tool-line.ts'
import {
  formatAge,
  formatBytes,
  formatCost,
  formatDuration,
  formatSize,
  formatTokens,
} from '../../src/cli/terminal/amounts.ts'
import { formatTable } from '../../src/cli/terminal/table.ts'
import { firstLine, styleFor } from '../../src/cli/terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../../src/cli/terminal/time.ts'
import type { Agent } from '../../src/contract/agent.ts'
import type { Obstacle } from '../../src/contract/obstacle.ts'
import { startText } from '../../src/contract/start-text.ts'

test('durations, ages, money, tokens, sizes', () => {
  expect([null, 12, 1500, 61_000, 3_600_000, 90_000_000].map(formatDuration)).toEqual([
    '–',
    '12ms',
    '1.5s',
    '1m 1s',
    '1h',
    '1d 1h',
  ])
  const now = new Date('2026-01-02T00:00:00Z')
  expect(
    ['2026-01-02T00:00:01Z', '2026-01-01T23:59:30Z', '2026-01-01T00:00:00Z'].map((at) => formatAge(at, now)),
  ).toEqual(['0s', '30s', '1d'])
  expect([formatCost(null), formatCost(0), formatCost(0.0123), formatCost(12.345, true)]).toEqual([
    '–',
    '$0.00',
    '$0.0123',
    '~$12.35',
  ])
  expect([999, 12_345, 1_234_567].map(formatTokens)).toEqual(['999', '12.3k', '1.2M'])
  expect([5 * 2 ** 20, 3 * 2 ** 30].map(formatBytes)).toEqual(['5 MiB', '3.0 GiB'])
  expect([12, 4096, 5 * 2 ** 20].map(formatSize)).toEqual(['12 B', '4 KiB', '5 MiB'])
})

test('tables are as wide as the terminal', () => {
  expect(formatTable(['A', 'LAST'], [['xxx', 'a rather long text']], 18)).toEqual([
    'A    LAST',
    'xxx  a rather lon…',
  ])
})

describe('tables on a narrow terminal', () => {
  const run = (end: string) => `run_01J${'0'.repeat(17)}${end}`
  const headings = ['ID', 'STATE', 'AGENT', 'TIER', 'AGE', 'TOOK', 'COST', 'PROMPT']
  const rows = ['K3F9QZ', 'AAAAAA'].map((end) => [
    run(end.padStart(6)),
    'completed',
    'claude',
    '–',
    '3m',
    '12.5s',
    '$0.0012',
    'Fix the failing test of the parser, and say what was wrong with it',
  ])

  test.each([40, 60, 80, 100, 120])('fit into %i columns', (width) => {
    const lines = formatTable(headings, rows, width)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width)
    expect(lines[1]).toContain('K3F9QZ')
    expect(lines[1]).toContain('Fix the fa')
  })

  test('ids are shortened first, then what matters least is left out', () => {
    expect(formatTable(headings, rows, 120)[1]).toContain(run('K3F9QZ'))
    expect(formatTable(headings, rows, 100)[0]).toMatch(/^ID {10}STATE {6}AGENT {3}TIER/)
    expect(formatTable(headings, rows, 60)).toEqual([
      'ID          STATE      AGE  COST     PROMPT',
      'run_K3F9QZ  completed  3m   $0.0012  Fix the failing test o…',
      'run_AAAAAA  completed  3m   $0.0012  Fix the failing test o…',
    ])
  })

  test('paths are cut in the middle', () => {
    expect(formatTable(['ID', 'DIRECTORY'], [['ses_1', '/home/anna/projects/media/server']], 27)).toEqual([
      'ID     DIRECTORY',
      'ses_1  /home/anna…ia/server',
    ])
    const long = '/srv/a/very/long/path/to/some/project'
    for (const line of formatTable(['directory', 'decision'], [[long, 'trusted']], 30)) {
      expect(line.length).toBeLessThanOrEqual(30)
    }
  })
})

describe('terminals', () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true })
  const evil = 'a\u001b]52;c;ZXZpbA==\u0007b\u001b[2Jc\rd\u009be\tf\ng'

  test('never get the control characters of others', () => {
    const safe = styleFor(terminal, {}).safe(evil)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is the point
    expect(safe).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
    expect(safe).toContain('\tf\ng')
  })

  test('a file gets them as they are, without colours', () => {
    const style = styleFor(new PassThrough(), {})
    expect([style.safe(evil), style.red('x')]).toEqual([evil, 'x'])
  })

  test('NO_COLOR is respected', () => {
    expect(styleFor(terminal, {}).red('x')).toBe('\u001b[31mx\u001b[39m')
    expect(styleFor(terminal, { NO_COLOR: '1' }).red('x')).toBe('x')
    expect(styleFor(terminal, { TERM: 'dumb' }).red('x')).toBe('x')
  })
})

test('tool calls and their answers on one line', () => {
  expect(toolLine('Bash', { description: 'd', command: 'ls\n-la' })).toBe('Bash ls -la')
  expect(toolLine('Odd', { a: { b: 1 } })).toBe('Odd {"a":{"b":1}}')
  expect(toolLine('None', null)).toBe('None')
  expect(toolLine('Ask', { questions: [{ question: 'Which?' }, { question: 'Why?' }] })).toBe(
    'Ask Which? Why?',
  )
  expect(toolLine('Odd', { questions: [null] })).toBe('Odd {"questions":[null]}')
  expect(contentLine([{ type: 'image' }, { type: 'text', text: 'found\nit' }])).toBe('found it')
  expect(contentLine('x'.repeat(10_000_000), 5)).toBe('xxxx…')
  expect(firstLine('  a \n b  ', 10)).toBe('a b')
})

test('only what was asked for goes into a request', () => {
  const request = toRequest('p', { cwd: 'sub', timeout: 1000 }, { cwd: '/work', sessionId: undefined })
  expect(request).toEqual({ prompt: 'p', workDir: '/work/sub', timeoutMs: 1000 })
})

test('to say how checkpoints are to be made is to ask for them', () => {
  const checkpointsOf = (options: RunOptions) =>
    toRequest('p', options, { cwd: '/work', sessionId: undefined }).checkpoints
  expect(checkpointsOf({})).toBeUndefined()
  expect(checkpointsOf({ checkpoints: true })).toBe(true)
  expect(checkpointsOf({ checkpointEvery: 60_000 })).toEqual({ everyMs: 60_000 })
  expect(checkpointsOf({ checkpoints: true, onChange: 'stop' })).toEqual({ onChange: 'stop' })
})

describe('agents', () => {
  const agent: Agent = {
    name: 'claude',
    adapter: 'claude',
    command: 'claude',
    available: true,
    problem: null,
    path: '/bin/claude',
    version: '2.1.0',
    runtimeId: 'r',
    capabilities: {
      resume: true,
      sessionId: true,
      fork: true,
      partialMessages: true,
      permissionPrompt: true,
      budget: true,
      structuredOutput: true,
      toolChoice: true,
      sealing: true,
    },
    loggedIn: true,
    simulated: false,
    connectsTo: null,
  }
  const statusOf = (...agents: Agent[]) => checkAgents(agents).map((check) => check.status)

  test('missing, old, not logged in, simulated', () => {
    const missing = { ...agent, available: false, problem: 'not found' }
    expect(statusOf()).toEqual(['fail'])
    expect(statusOf(agent)).toEqual(['ok'])
    expect(statusOf(missing)).toEqual(['fail'])
    expect(statusOf(missing, agent)).toEqual(['warn', 'ok'])
    expect(statusOf({ ...agent, loggedIn: false })).toEqual(['warn'])
    expect(statusOf({ ...agent, simulated: true })).toEqual(['warn'])
    const [old] = checkAgents([{ ...agent, capabilities: { ...agent.capabilities!, resume: false } }])
    expect(old).toMatchObject({ status: 'warn', message: expect.stringContaining('it cannot resume') })
  })
})

test('runs that wait for an outage or a limit, and paused ones, are not counted as queued', () => {
  const waiting = (kind: 'outage' | 'limit', waitingCount: number) => ({ kind, waitingCount }) as Obstacle
  const runs = { running: 1, queued: 6, settled: 9 }
  expect(runsLine({ runs, obstacles: [], paused: [] })).toBe('runs      1 running, 6 queued, 9 settled')
  expect(
    runsLine({ runs, obstacles: [waiting('outage', 2), waiting('limit', 1)], paused: ['run_1'] as never }),
  ).toBe(
    'runs      1 running, 2 queued, 2 waiting for the end of an outage, 1 waiting for the end of a usage limit, 1 paused, 9 settled',
  )
})

test('times in messages of the daemon are shown as local times', () => {
  const now = new Date('2026-01-02T12:00:00Z')
  const at = '2026-01-02T12:34:56.000Z'
  expect(withLocalTimes(`resets at ${at}, since 2026-01-02T11:00Z`, now)).toBe(
    `resets at ${formatTime(at, now)}, since ${formatTime('2026-01-02T11:00:00Z', now)}`,
  )
})

test('columns are aligned by what a terminal shows', () => {
  expect(
    formatTable(
      ['A', 'B'],
      [
        ['漢字', 'x'],
        ['abc', '漢字漢字漢字'],
      ],
      17,
    ),
  ).toEqual(['A     B', '漢字  x', 'abc   漢字漢字漢…'])
})

test('a new session is explained, and only where there is something to explain', () => {
  expect(startText({ resumed: true })).toBe('resumed session')
  expect(startText({ resumed: false, freshReason: 'first-run', carry: 'none' })).toBe('new session')
  expect(startText({ resumed: false, freshReason: 'context-full', carry: 'transcript' })).toBe(
    'new session (the context is full), with the history',
  )
  expect(startText({ resumed: false, freshReason: 'of-a-later-version' })).toBe(
    'new session (of-a-later-version)',
  )
})

test('doctor says which sandbox there is, or how to get one, and fails only if one is needed', () => {
  const none = { kind: 'none' as const, problems: ['bubblewrap: not installed.'], advice: 'Install it.' }
  const found = { kind: 'unshare' as const, problems: [], advice: null }
  expect(checkSandbox(found, true)).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('util-linux'),
  })
  expect(checkSandbox(none, false)).toMatchObject({
    status: 'warn',
    message: expect.stringMatching(/advisory: bubblewrap: not installed/),
    hint: 'Install it.',
  })
  expect(checkSandbox(none, true)).toMatchObject({ status: 'fail' })
})
