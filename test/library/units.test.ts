import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Redactor } from '../../src/core/redact/redactor.ts'
import { roughChars } from '../../src/core/rough-chars.ts'
import { bundledCommands } from '../../src/library/agents.ts'
import { closeAll } from '../../src/library/close-all.ts'
import { createCallbackLog, type LogEntry } from '../../src/library/log.ts'
import { resolveOptions } from '../../src/library/options.ts'

const made: string[] = []
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true })
})

function directory(...below: string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-library-'))
  made.push(dir)
  for (const path of below) mkdirSync(join(dir, path), { recursive: true })
  return dir
}

describe('agents that were installed together with Reprise', () => {
  it.each([
    ['npm', 'node_modules/reprise', ['node_modules/.bin']],
    ['pnpm', 'node_modules/.pnpm/reprise@1.0.0/node_modules/reprise', ['node_modules/.bin']],
    ['a checkout', '.', ['node_modules/.bin']],
    [
      'dependencies of its own',
      'node_modules/reprise',
      ['node_modules/reprise/node_modules/.bin', 'node_modules/.bin'],
    ],
  ])('%s', (_, root, expected) => {
    const project = directory(...expected)
    expect(bundledCommands(join(project, root, 'dist/lib/open.js'))).toEqual(
      expected.map((path) => join(project, path)),
    )
  })
})

describe('options', () => {
  it('have defaults: the environment, the directory and the home of the process', () => {
    expect(resolveOptions({ env: { HOME: '/home/ann' }, cwd: '/work' })).toEqual({
      home: '/home/ann/.reprise',
      cwd: '/work',
      env: { HOME: '/home/ann' },
      settings: undefined,
      daemon: 'use',
      simulate: false,
      log: undefined,
      onlyHere: [],
    })
    expect(resolveOptions({ env: process.env })).toMatchObject({ cwd: process.cwd(), env: process.env })
  })

  it('are relative to `cwd`, and are settings like any others', () => {
    const agents = { fast: { adapter: 'claude' as const } }
    const settings = { maxTier: 2, agents: { claude: { model: 'haiku' } } }
    expect(resolveOptions({ cwd: '/work', home: 'state', store: 'x.db', agents, settings })).toMatchObject({
      home: '/work/state',
      settings: {
        maxTier: 2,
        store: { url: 'sqlite:/work/x.db' },
        agents: { claude: { model: 'haiku' }, fast: { adapter: 'claude' } },
      },
      onlyHere: ['store', 'agents', 'settings'],
    })
    expect(resolveOptions({ store: 'sqlite:///y.db' }).settings).toEqual({ store: { url: 'sqlite:///y.db' } })
  })

  it('that are wrong are all named', () => {
    const wrong = { home: '', log: 'yes', daemon: 'maybe', cdw: '.' }
    expect(() => resolveOptions(wrong as never)).toThrow(
      /^openReprise: home: .*; daemon: .*; log: expected a function; cdw: unknown option$/,
    )
  })
})

describe('the log', () => {
  it('is redacted, has errors in full, and survives a callback that throws', () => {
    const entries: LogEntry[] = []
    const log = createCallbackLog((entry) => {
      entries.push(entry)
      throw new Error('in the callback')
    })
    log.redactWith(new Redactor({ builtIn: false, patterns: [], values: ['swordfish'] }))
    log.warn({ run: 'run_1', err: new TypeError('no swordfish') }, 'failed with swordfish')
    expect(entries).toMatchObject([
      {
        level: 'warn',
        message: 'failed with [redacted]',
        fields: { run: 'run_1', err: { name: 'TypeError', message: 'no [redacted]' } },
      },
    ])
  })
})

it('the rough size of a value follows that of its JSON', () => {
  for (const value of [
    [],
    {},
    'x'.repeat(1000),
    { a: ['x'.repeat(500), { b: 'y'.repeat(700), c: [1, null] }] },
  ]) {
    const exact = JSON.stringify(value).length
    expect(Math.abs(roughChars(value) - exact)).toBeLessThan(60)
  }
})

it('closing closes everything, the last first, also if one of them fails', async () => {
  const closed: string[] = []
  const closers = ['lock', 'store', 'engine'].map((name) => async () => {
    closed.push(name)
    if (name === 'engine') throw new Error('the disk is full')
  })
  await expect(closeAll(closers)).rejects.toThrow('the disk is full')
  expect(closed).toEqual(['engine', 'store', 'lock'])
})
