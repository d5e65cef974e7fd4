import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { configureAgents } from '../../src/library/agents.ts'
import { createRedactor } from '../../src/library/redaction.ts'
import { temporaryDirs } from './temporary-dirs.ts'

type Files = { home?: string; project?: string }
const load = (files: Files) => loadConfig({ ...temporaryDirs(files), env: {} }).config

describe('what is wrong is said with its place, and no secret is repeated', () => {
  test.each([
    [
      'redact:\n  patterns:\n    - "ok"\n    - "(["',
      /config\.yaml:4:7 redact\.patterns\.1: the pattern "\(\[" is not a valid regular expression: .*class/,
    ],
    [
      'redact:\n  patterns: ["x*"]',
      /config\.yaml:2:14 redact\.patterns\.0: the pattern "x\*" matches the empty text/,
    ],
    [
      'redact:\n  values: [abc12]',
      /redact\.values\.0: expected a text of at least 6 characters .*; got a string \(not shown\)/,
    ],
    [
      'redact:\n  values: hunter2hunter2',
      /redact\.values: expected a list of texts; got a string \(not shown\)/,
    ],
    ['redact: { value: [] }', /redact\.value: unknown key; did you mean redact\.values\?/],
  ])('%j', (home, says) => {
    expect(() => load({ home })).toThrow(says)
    expect(() => load({ home })).not.toThrow(/abc12|hunter2/)
  })
})

describe('what is known as a secret', () => {
  const TOKEN = 'the-token-of-the-daemon-itself'
  function redactorOf(home: string, env: Record<string, string> = {}) {
    const config = load({ home })
    return createRedactor({ config, env, agents: configureAgents(config, env), token: TOKEN })
  }

  test('values, and variables of the daemon', () => {
    const { redactor, notices } = redactorOf(
      'redact: { values: [swordfish, "env:VAULT", "env:NOT_THERE"], builtIn: false }',
      {
        VAULT: 'open sesame',
      },
    )
    expect(redactor.text(`swordfish, open sesame, ${TOKEN}, hunter2`)).toBe(
      '[redacted], [redacted], [redacted], hunter2',
    )
    expect(notices).toEqual([expect.stringContaining('NOT_THERE is not set')])
    expect(() => redactorOf('redact: { values: ["env:VAULT"] }', { VAULT: 'abc' })).toThrow(
      /the value of VAULT has fewer/,
    )
  })

  test('what agents are given under a name that says so', () => {
    const home =
      'agents: { claude: { env: { DB_PASSWORD: hunter2hunter2, MY_TOKEN: production, REGION: eu-central-1 } } }'
    const { redactor } = redactorOf(home, {
      ANTHROPIC_API_KEY: 'made.up.key',
      OTHER_SECRET: 'not.passed.on',
      HOME: '/home/me',
    })
    expect(redactor.text('hunter2hunter2 made.up.key production eu-central-1 not.passed.on /home/me')).toBe(
      '[redacted] [redacted] production eu-central-1 not.passed.on /home/me',
    )
  })

  test('what signs notifications', () => {
    const home = 'notify: { me: { webhook: "https://example.com/", secret: "sign-with-9" } }'
    expect(redactorOf(home).redactor.text('it is sign-with-9')).toBe('it is [redacted]')
  })

  test('what events are sent with', () => {
    const home = 'watches: { web: { prompt: Look., hookSecret: send-with-0123456 } }'
    expect(redactorOf(home).redactor.text('it is send-with-0123456')).toBe('it is [redacted]')
  })
})
