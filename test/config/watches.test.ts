import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import type { ConfigProblem } from '../../src/config/problem.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import { temporaryDirs } from './temporary-dirs.ts'

type Given = { home?: string; project?: string; files?: Record<string, string> }

function load({ files = {}, ...given }: Given) {
  const dirs = temporaryDirs(given)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dirs.home, name)), { recursive: true })
    writeFileSync(join(dirs.home, name), text)
  }
  return { ...dirs, ...loadConfig({ ...dirs, env: {} }) }
}

function refusal(given: Given): string[] {
  try {
    load(given)
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error
    const { problems } = error.details as { problems: ConfigProblem[] }
    return problems.map(
      ({ source, line, key, message }) => `${source.split('/').at(-1)}:${line} ${key}: ${message}`,
    )
  }
  throw new Error('the configuration was accepted')
}

describe('a watch', () => {
  test('of little', () => {
    const { watches, home } = load({ home: 'watches: { media: { every: 30m, prompt: Look. } }' })
    expect(watches).toEqual([
      { name: 'media', definition: { everyMs: 1_800_000, workDir: home, prompt: 'Look.' }, paused: false },
    ])
  })

  test('of everything', () => {
    const { watches } = load({
      home: `
notify: { phone: { command: 'true' }, chat: { command: 'true' } }
watches:
  web-1.a:
    cron: 0 7 * * 1-5
    timeZone: Europe/Berlin
    jitter: 5m
    everyWhileNotHealthy: 10m
    workDir: /srv/web
    prompt: " Look at the web. "
    agent: claude
    memory: persistent
    overlap: queue
    maxTier: 2
    dryRun: true
    environment: One machine.
    budgetUsd: 2.5
    maxDuration: 2h
    hookSecret: 0123456789abcdef
    eventsPerHour: 6
    dedupe: 1h
    renewAfter: 7d
    renewAfterCycles: 100
    notify: [phone]
    webhook: https://example.org/hook
    notifyFrom: problem
    paused: true
`,
    })
    expect(watches).toEqual([
      {
        name: 'web-1.a',
        definition: {
          cron: '0 7 * * 1-5',
          timeZone: 'Europe/Berlin',
          jitterMs: 300_000,
          everyWhileNotHealthyMs: 600_000,
          workDir: '/srv/web',
          prompt: ' Look at the web. ',
          agent: 'claude',
          memory: 'persistent',
          overlap: 'queue',
          maxTier: 2,
          dryRun: true,
          environment: 'One machine.',
          maxBudgetUsd: 2.5,
          maxDurationMs: 7_200_000,
          hookSecret: '0123456789abcdef',
          eventsPerHour: 6,
          dedupeMs: 3_600_000,
          renewAfterMs: 604_800_000,
          renewAfterCycles: 100,
          notify: ['phone'],
          webhook: 'https://example.org/hook',
          notifyFrom: 'problem',
        },
        paused: true,
      },
    ])
  })

  test('without a schedule waits to be triggered', () => {
    const { watches } = load({ home: 'watches: { alerts: { prompt: x, hookSecret: 0123456789abcdef } }' })
    expect(watches[0]?.definition).not.toHaveProperty('everyMs')
  })

  test('paths and files are found beside the file that names them', () => {
    const { watches, home } = load({
      home: 'watches: { web: { workDir: ../web, promptFile: prompts/web.md, environmentFile: place.md } }',
      files: { 'prompts/web.md': 'Look.\n', 'place.md': 'One machine.' },
    })
    expect(watches[0]?.definition).toEqual({
      workDir: join(home, '../web'),
      prompt: 'Look.\n',
      environment: 'One machine.',
    })
  })

  test('may reach a tier that was added', () => {
    const tiers = 'tiers: { 4: { model: opus, tools: [Bash] } }'
    expect(load({ home: `${tiers}\nwatches: { web: { prompt: x, maxTier: 4 } }` }).watches).toHaveLength(1)
  })
})

describe('refused', () => {
  const web = (settings: string) => `watches:\n  web: { prompt: x,\n    ${settings} }`

  test.each([
    ['evry: 30m', 'config.yaml:3 watches.web.evry: unknown key; did you mean watches.web.every?'],
    ['every: 5s', 'config.yaml:3 watches.web.every: expected a duration with a unit, such as 500ms'],
    ['every: often', 'from 10s to 366d; got "often"'],
    ['every: 400d', 'from 10s to 366d; got "400d"'],
    [
      'every: 1h, cron: "@daily"',
      'config.yaml:3 watches.web.cron: cannot be combined with every; remove one of the two',
    ],
    ['cron: 0 25 * * *', 'watches.web.cron: "0 25 * * *" has "25" in field 2, the hour; use 0-23'],
    ['cron: 0 0 7 * * *', 'watches.web.cron: "0 0 7 * * *" has 6 fields instead of five; write minute, hour'],
    [
      'cron: 0 0 30 2 *',
      'watches.web.cron: "0 0 30 2 *" never occurs; choose a day that exists in every year',
    ],
    ['cron: ""', 'watches.web.cron: expected a text that is not empty'],
    ['every: 1h, timeZone: UTC', 'watches.web.timeZone: requires cron; remove it'],
    [
      'cron: "@daily", timeZone: Mars',
      'watches.web.timeZone: "Mars" is not a known time zone; write one such as',
    ],
    ['every: 1h, jitter: 1h', 'watches.web.jitter: is too long; must be less than every'],
    ['cron: "@daily", jitter: 2h', 'watches.web.jitter: is too long; must be at most 1h with cron'],
    ['everyWhileNotHealthy: 5m', 'watches.web.everyWhileNotHealthy: requires every or cron; remove it'],
    [
      'every: 5m, everyWhileNotHealthy: 5m',
      'watches.web.everyWhileNotHealthy: is too long; must be less than every',
    ],
    ['every: 5m, everyWhileNotHealthy: 30', 'watches.web.everyWhileNotHealthy: expected a duration'],
    ['promptFile: y', 'config.yaml:3 watches.web.promptFile: cannot be used together with prompt'],
    [
      'environment: a, environmentFile: b',
      'watches.web.environmentFile: cannot be used together with environment',
    ],
    ['environmentFile: none.md', 'config.yaml:3 watches.web.environmentFile: there is no file /'],
    ['workDir: ~/web', 'config.yaml:3 watches.web.workDir: ~ is not expanded here; write the full path'],
    ['workDir: "a\\0b"', 'config.yaml:3 watches.web.workDir: expected a path without NUL'],
    ['maxTier: 4', 'config.yaml:3 watches.web.maxTier: there is no tier 4; the highest is 3'],
    ['maxTier: 0', 'watches.web.maxTier: expected a whole number from 1 to 9; got 0'],
    ['memory: long', 'watches.web.memory: expected one of fresh, persistent; got "long"'],
    ['overlap: kill', 'watches.web.overlap: expected one of skip, queue; got "kill"'],
    ['renewAfter: 1d', 'watches.web.renewAfter: requires memory: persistent; with memory: fresh each cycle'],
    ['memory: fresh, renewAfterCycles: 3', 'watches.web.renewAfterCycles: requires memory'],
    ['notify: [pone]', 'watches.web.notify: "pone" is not one of the targets under notify; there are none'],
    [
      'webhook: "ftp://x"',
      'watches.web.webhook: expected an http or https address; got a string (not shown)',
    ],
    [
      'notifyFrom: some',
      'watches.web.notifyFrom: expected one of all, problem, attention, change; got "some"',
    ],
    ['budgetUsd: 0', 'watches.web.budgetUsd: expected a number above 0; got 0'],
    ['maxDuration: 30d', 'watches.web.maxDuration: expected a duration'],
    ['eventsPerHour: 0', 'watches.web.eventsPerHour: expected a whole number from 1 to 3600'],
    ['dedupe: 31d', 'watches.web.dedupe: expected a duration'],
    ['paused: maybe', 'watches.web.paused: expected true or false; got "maybe"'],
  ])('%s', (settings, message) => {
    expect(refusal({ home: web(settings) })).toEqual([expect.stringContaining(message)])
  })

  test.each([
    ['watches:\n  web: { every: 30m }', 'config.yaml:2 watches.web: needs prompt or promptFile'],
    ['watches: { web: { prompt: " " } }', 'watches.web.prompt: expected a text that is not empty'],
    [
      'watches:\n  web:\n    promptFile: prompts/none.md',
      'config.yaml:3 watches.web.promptFile: there is no file /',
    ],
    ['watches: { web: { promptFile: . } }', 'watches.web.promptFile: there is no file /'],
    [
      'watches:\n  My Web: { prompt: x }',
      'config.yaml:2 watches.My Web: is not a valid name; expected names (up to 63 lower-case letters, digits, . _ -)',
    ],
    ['watches: { web: 5m }', 'watches.web: expected a mapping with the keys every, cron'],
    [
      'notify: { phone: { command: "true" }, chat: { command: "true" } }\nwatches: { web: { prompt: x, notify: [pone] } }',
      'config.yaml:2 watches.web.notify: "pone" is not one of the targets under notify; there are phone, chat',
    ],
    ['followUps: { hold: 31m }', 'followUps.hold: expected a duration'],
    ['followUps: { maxPending: 0 }', 'followUps.maxPending: expected a whole number from 1 to 1000; got 0'],
    ['followUps: { maxAhead: 367d }', 'followUps.maxAhead: expected a duration'],
    ['followUps: { maxpending: 1 }', 'unknown key; did you mean followUps.maxPending?'],
  ])('%s', (home, message) => {
    expect(refusal({ home })).toEqual([expect.stringContaining(message)])
  })

  test('a prompt file without a prompt', () => {
    expect(refusal({ home: 'watches: { web: { promptFile: web.md } }', files: { 'web.md': ' \n' } })).toEqual(
      [expect.stringMatching(/watches\.web\.promptFile: \/.*\/web\.md is empty$/)],
    )
  })

  test('a file about the place that is too long', () => {
    expect(
      refusal({ home: web('environmentFile: place.md'), files: { 'place.md': 'x'.repeat(200_001) } }),
    ).toEqual([expect.stringContaining('watches.web.environmentFile: ')])
  })

  test('everything that is wrong, with every watch', () => {
    expect(
      refusal({ home: 'watches:\n  a: { prompt: x, cron: x, maxTier: 9 }\n  b: { promptFile: none }' }),
    ).toEqual([
      expect.stringContaining('config.yaml:2 watches.a.cron: '),
      expect.stringContaining('config.yaml:2 watches.a.maxTier: '),
      expect.stringContaining('config.yaml:3 watches.b.promptFile: '),
    ])
  })

  test('without repeating a secret', () => {
    expect(refusal({ home: web('hookSecret: s3cret') })).toEqual([
      'config.yaml:3 watches.web.hookSecret: expected a text of 16 to 255 visible ASCII characters; got a string (not shown)',
    ])
  })
})
