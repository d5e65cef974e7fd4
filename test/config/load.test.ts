import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Environment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { ConfigProblem } from '../../src/config/problem.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import { configureAgents } from '../../src/library/agents.ts'
import { temporaryDirs } from './temporary-dirs.ts'

type Given = { home?: string; project?: string; env?: Environment }

function load({ env = {}, ...files }: Given = {}) {
  const { home, cwd } = temporaryDirs(files)
  return loadConfig({ home, cwd, env }).config
}

/** The problems, and the whole error; paths are shortened to the file name. */
function refusal({ env = {}, ...files }: Given) {
  const { home, cwd } = temporaryDirs(files)
  return refusalIn({ home, cwd, env })
}

function refusalIn(where: { home: string; cwd: string; env: Environment }) {
  try {
    loadConfig(where)
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error
    expect(error.code).toBe('config-invalid')
    const { problems } = error.details as { problems: ConfigProblem[] }
    const shown = problems.map(({ source, line, column, key, message }) => {
      const file = source.split('/').at(-1)
      return `${line === undefined ? file : `${file}:${line}:${column}`} ${key}: ${message}`
    })
    return { shown, text: error.message }
  }
  throw new Error('the configuration was accepted')
}

test.each([
  ['', ['claude']],
  ['agents: { x: { adapter: claude } }', ['x', 'claude']],
  ['agents: { x: { adapter: claude }, claude: { model: opus } }', ['x', 'claude']],
  ['agents: { claude: { model: opus }, x: { adapter: claude } }', ['claude', 'x']],
])('the first agent configured is the default, and claude is always there: %j', (home, names) => {
  expect(configureAgents(load({ home }), {}).map(({ name }) => name)).toEqual(names)
})

describe('defaults and overlay', () => {
  test('without any source, the documented defaults', () => {
    expect(load()).toEqual({
      server: { host: '127.0.0.1', port: 7717, trustedProxies: [] },
      store: {},
      resume: { contextThreshold: 0.8, maxAge: 604_800_000, maxResumes: 5 },
      session: { pauseAfter: 300_000, idleTimeout: 1_800_000 },
      run: {
        maxDuration: 1_800_000,
        idleTimeout: 600_000,
        hangAfterResult: 10_000,
        termAfter: 5000,
        killAfter: 5000,
        maxOutput: 1024 ** 3,
        maxLine: 8 * 1024 ** 2,
        permissions: 'edits',
        sandbox: 'off',
        sandboxKind: 'auto',
        questionTimeout: 86_400_000,
        concurrency: 4,
      },
      conversations: { keepWarm: 300_000, maxKept: 4, maxKeptMemory: 1_073_741_824 },
      jobs: {
        perWorkDir: 1,
        backoff: 30_000,
        holdLimit: 30_000,
        checkpoints: false,
        checkpointEvery: 300_000,
        onChange: 'continue',
      },
      dryRun: false,
      maxTier: 3,
      disk: { minFree: 200 * 2 ** 20 },
      outage: { limit: 86_400_000 },
      keep: {
        runs: 90 * 86_400_000,
        events: 30 * 86_400_000,
        transcripts: 90 * 86_400_000,
        sessions: 180 * 86_400_000,
        output: 7 * 86_400_000,
        checkpoints: 30 * 86_400_000,
        audit: 365 * 86_400_000,
      },
      escalation: { approvalTimeout: 3_600_000 },
      tiers: {
        enforcement: 'auto',
        1: expect.objectContaining({ name: 'observe', model: { claude: 'haiku' }, commands: { allow: [] } }),
        2: expect.objectContaining({ name: 'safe-remediation', model: { claude: 'sonnet' } }),
        3: expect.objectContaining({ name: 'full-remediation', model: { claude: 'opus' }, commands: {} }),
      },
      redact: { values: [], patterns: [], builtIn: true },
      policy: {
        never: expect.arrayContaining(['docker system prune *', 'git push --force *']),
        protectedPaths: expect.arrayContaining(['/volumes/**', 'ie.yaml']),
      },
      broker: { programs: expect.arrayContaining(['docker', 'kubectl', 'ssh', 'git', 'reprise']) },
      cooldowns: {
        restart: expect.objectContaining({ limit: 2, per: 4 * 3_600_000 }),
        redeploy: expect.objectContaining({ limit: 1, per: 86_400_000 }),
      },
      agents: {},
      notify: {},
      webhooks: { allow: [] },
      watches: {},
      followUps: {
        hold: 120_000,
        maxPending: 20,
        maxAhead: 30 * 86_400_000,
        maxPendingTotal: 10_000,
      },
    })
  })

  test('the environment overlays the home, key by key; the directory is not a source', () => {
    const config = load({
      home: 'run: { maxDuration: 1h, idleTimeout: 1m, concurrency: 2 }',
      project: 'run: { maxDuration: 2h, idleTimeout: 2m }\nserver: { port: 1 }',
      env: { REPRISE_MAX_SESSION_DURATION: '3h' },
    })
    expect(config.run).toMatchObject({ maxDuration: 10_800_000, idleTimeout: 60_000, concurrency: 2 })
    expect(config.server.port).toBe(7717)
  })

  test.each([
    [{ home: 'run: { idleTimeout: 30 }' }, 'run.idleTimeout: expected a duration with a unit'],
    [{ home: 'run: { idleTimeout: "30" }' }, 'run.idleTimeout: expected a duration with a unit'],
    [{ env: { REPRISE_MAX_SESSION_DURATION: '60000' } }, 'expected a duration with a unit'],
  ])('a duration without a unit is refused: %j', (given, message) => {
    expect(() => load(given)).toThrow(message)
  })

  test('every variable', () => {
    const config = load({
      env: {
        REPRISE_HOST: '0.0.0.0',
        REPRISE_PORT: '8080',
        REPRISE_DATABASE_URL: 'postgres://db/reprise',
        REPRISE_RESUME_CONTEXT_THRESHOLD: '0.5',
        REPRISE_RESUME_MAX_AGE: '2d',
        REPRISE_MAX_SESSION_DURATION: '1m',
        REPRISE_DRY_RUN: '1',
        REPRISE_MAX_TIER: '2',
      },
    })
    expect(config).toMatchObject({
      server: { host: '0.0.0.0', port: 8080 },
      store: { url: 'postgres://db/reprise' },
      resume: { contextThreshold: 0.5, maxAge: 172_800_000 },
      run: { maxDuration: 60_000 },
      dryRun: true,
      maxTier: 2,
    })
  })

  test('says which sources were used', () => {
    const { home, cwd, homeFile } = temporaryDirs({ home: 'maxTier: 2', project: '# nothing yet\n' })
    expect(loadConfig({ home, cwd, env: {} }).sources).toEqual([homeFile])
    expect(loadConfig({ home, cwd, env: { REPRISE_PORT: '1' } }).sources).toEqual([homeFile, 'environment'])
  })

  test.each(['', '# only a comment', 'server:\nrun:\n  # maxDuration: 1h\n', '---\n'])(
    'empty: %j',
    (home) => {
      expect(load({ home })).toEqual(load())
    },
  )

  test('an empty variable counts as not set', () => {
    expect(load({ env: { REPRISE_PORT: '', REPRISE_HOST: ' ' } }).server).toEqual({
      host: '127.0.0.1',
      port: 7717,
      trustedProxies: [],
    })
  })

  test('an alias is shared, and variables of an agent may be written as numbers', () => {
    const { agents } = load({
      home: 'agents:\n  a: &a { adapter: claude, env: { DEBUG: 1, ON: true } }\n  b: *a\n',
    })
    expect(agents.b).toEqual({ adapter: 'claude', env: { DEBUG: '1', ON: 'true' } })
  })
})

describe('whom to tell', () => {
  test('everything by default, else what is listed', () => {
    const home = `
notify:
  chat:
    webhook: https://chat.example/hook?key=1
    headers: { X-Team: core, X-Number: 7 }
    secret: ' s '
  phone: { command: 'notify-send "$REPRISE_MESSAGE"', on: [failed, attention] }
`
    expect(load({ home }).notify).toEqual({
      chat: {
        on: ['done', 'failed', 'attention'],
        webhook: 'https://chat.example/hook?key=1',
        headers: { 'X-Team': 'core', 'X-Number': '7' },
        secret: ' s ',
      },
      phone: { on: ['failed', 'attention'], command: 'notify-send "$REPRISE_MESSAGE"' },
    })
  })
})

describe('refusals', () => {
  test('all problems of all sources at once, with file, line and column', () => {
    const { shown, text } = refusal({
      home: 'server:\n  prot: 80\n  port: high\nrun:\n  maxDuration: forever\n',
      env: { REPRISE_MAX_TIER: 'all' },
    })
    expect(shown).toEqual([
      'config.yaml:3:3 server.port: expected a whole number from 0 to 65535; got "high"',
      'config.yaml:2:3 server.prot: unknown key; did you mean server.port?',
      expect.stringMatching(
        /^config.yaml:5:3 run.maxDuration: expected a duration with a unit, such as 500ms, .*; got "forever"$/,
      ),
      'REPRISE_MAX_TIER maxTier: expected a whole number from 1 to 9; got "all"',
    ])
    expect(text).toMatch(/^The configuration has 4 problems:\n {2}\/.*\/config\.yaml:3:3 server\.port: /)
  })

  test.each([
    ['run: { keepOutput: 1d }', 'run.keepOutput: is now called keep.output'],
    ['jobs: { keepTranscripts: 1d }', 'jobs.keepTranscripts: is now called keep.transcripts'],
    [
      'keep: { runs: always }',
      'keep.runs: expected a duration with a unit, such as 12h or 90d, from 0ms to 3650d, or forever; got "always"',
    ],
    ['keep: { events: 11y }', 'keep.events: expected a duration with a unit, such as 12h or 90d'],
  ])('retention: %s', (home, message) => {
    expect(refusal({ home }).shown).toEqual([expect.stringContaining(message)])
  })

  test.each([
    ['run: { max_duration: 1h }', 'did you mean run.maxDuration?'],
    ['agent: {}', 'did you mean agents?'],
    ['port: 80', 'did you mean server.port?'],
    ['idleTimeout: 1m', 'did you mean session.idleTimeout or run.idleTimeout?'],
    ['agents: { claude: { comand: x } }', 'did you mean agents.claude.command?'],
    ['notify: { me: { command: x, secrt: y } }', 'did you mean notify.me.secret?'],
    ['tires: {}', 'did you mean tiers?'],
    ['plugins: {}', 'known here: server,'],
    ['__proto__: { dryRun: true }', 'known here: server,'],
  ])('unknown key in %s', (home, message) => {
    expect(refusal({ home }).shown).toEqual([expect.stringContaining(`unknown key; ${message}`)])
  })

  test.each([
    ['run: { permissions: alow }', 'one of ask-all, ask, edits, allow; got "alow"'],
    ['run: { maxLine: 8mb }', 'a size such as 512KiB, 8MiB or 1GiB'],
    ['run: { maxDuration: 30d }', 'from 1ms to 24d; got "30d"'],
    ['run: { idleTimeout: 0 }', 'got 0'],
    ['run: { maxDuration: true }', 'a duration with a unit, such as'],
    ['resume: { contextThreshold: 80 }', 'a number above 0 and up to 1; got 80'],
    ['server: [1]', 'a mapping with the keys host, port, publicUrl, trustedProxies; got a list'],
    ['- 1', 'a mapping with the keys server, store'],
    ['agents: { claude: { args: [1] } }', 'expected a text; got 1'],
    ['agents: { claude: { env: { "A=B": x } } }', 'is not a valid name; expected names of variables'],
    ['agents: { x: { adapter: codex } }', 'agents.x.adapter: expected one of claude; got "codex"'],
    ['agents: { x: { model: opus } }', 'agents.x: needs adapter, one of claude'],
    ['agents: { "../x": {} }', 'is not a valid name; expected names of agents'],
    ['dryRun: maybe', 'true or false; got "maybe"'],
    ['notify: { me: {} }', 'notify.me: needs a webhook or a command'],
    [
      'notify: { me: { webhook: "https://x", command: "true" } }',
      'notify.me: has both a webhook and a command',
    ],
    ['notify: { me: { command: "true", secret: s } }', 'notify.me.secret: can only be used with a webhook'],
    [
      'notify: { me: { command: "true", headers: { a: b } } }',
      'notify.me.headers: can only be used with a webhook',
    ],
    ['notify: { me: { webhook: "ftp://x" } }', 'notify.me.webhook: expected an http or https address'],
    ['notify: { me: { command: "true", on: [done, lost] } }', 'one of done, failed, attention; got "lost"'],
    ['notify: { me: { command: "true", on: [] } }', 'a list of at least one of done, failed, attention'],
    ['notify: { "My Phone": { command: "true" } }', 'is not a valid name; expected names (lower-case'],
    [
      'notify: { me: { webhook: "https://x", headers: { Content-Length: 1 } } }',
      'notify.me.headers.Content-Length: is not a valid name; expected header names',
    ],
    [
      'notify: { me: { webhook: "https://x", headers: { a: "b\\nc" } } }',
      'notify.me.headers.a: expected a text on one line',
    ],
    [
      'notify: { me: 1 }',
      'notify.me: expected a mapping with the keys on, webhook, headers, secret, command',
    ],
  ])('%s', (home, message) => expect(refusal({ home }).shown).toEqual([expect.stringContaining(message)]))

  test('a secret is not repeated in the message', () => {
    const { text } = refusal({
      home: [
        'store: { url: "mysql://user:s3cret@db" }',
        'agents: { claude: { env: { TOKEN: [s3cret] } } }',
        'notify: { a: { webhook: "htp://s3cret", headers: { token: "s3cret\\n" } } }',
      ].join('\n'),
    })
    expect(text).toContain('store.url: expected an address')
    expect(text).not.toContain('s3cret')
  })

  test.each([
    ['server: { port: 80', /^config.yaml:\d+:\d+ : is not valid YAML: /],
    ['server:\n  port: 1\n  port: 2\n', /^config.yaml:3:3 : is not valid YAML: Map keys must be unique/],
    ['a: 1\n---\nb: 2\n', /^config.yaml:\d+:\d+ : is not valid YAML: /],
    ['\tserver:', /^config.yaml:1:1 : is not valid YAML: /],
  ])('bad YAML: %j', (home, message) => expect(refusal({ home }).shown[0]).toMatch(message))

  test('a file that unfolds without end', () => {
    const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`)
    expect(refusal({ home: ['l0: &l0 [x]', ...levels].join('\n') }).shown[0]).toContain('cannot be used')
  })

  test('something that is not a file, and something far too large', () => {
    const pipe = temporaryDirs()
    execFileSync('mkfifo', [pipe.homeFile])
    expect(refusalIn({ ...pipe, env: {} }).shown).toEqual(['config.yaml : is not a regular file'])
    const large = temporaryDirs()
    writeFileSync(large.homeFile, Buffer.alloc(1024 * 1024 + 1, '#'))
    expect(refusalIn({ ...large, env: {} }).shown[0]).toContain('is larger than')
  })
})

test('the home may set what a directory may not', () => {
  const home =
    'agents: { fork: { command: ./fork, adapter: claude, args: [-x], env: { A: b } } }\nrun: { permissions: allow }'
  expect(load({ home }).agents.fork).toEqual({
    command: './fork',
    adapter: 'claude',
    args: ['-x'],
    env: { A: 'b' },
  })
})
