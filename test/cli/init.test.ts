/** `reprise init`: what it writes is loaded by the real loader. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { tierEntries } from '../../src/config/policy-schema.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
beforeEach(async () => {
  cli = await createCliDouble({ up: false })
})
afterEach(() => cli.close())

const init = (...args: string[]) => cli.run(['init', ...args])
const load = () => loadConfig({ home: cli.home, cwd: cli.workDir, env: {} })
const settings = () => join(cli.home, 'config.yaml')
const writeSettings = (text: string) => {
  mkdirSync(cli.home, { recursive: true, mode: 0o700 })
  writeFileSync(settings(), text)
}

test('says what it can write', async () => {
  const { code, stdout } = await init()
  expect(code).toBe(0)
  expect(stdout).toMatch(/^reprise init watch +a watch of an HTTP endpoint and a container/m)
  expect((await init('--json')).json()).toMatchObject({ items: [{ name: 'watch' }] })
  expect(existsSync(cli.home)).toBe(false)
})

describe('watch', () => {
  test('writes settings that load, with three tiers and their prompts', async () => {
    const { code, stdout, stderr } = await init('watch')
    expect(code).toBe(0)
    const { config, watches } = load()
    expect(watches).toEqual([
      {
        name: 'media',
        paused: false,
        definition: expect.objectContaining({
          everyMs: 1_800_000,
          workDir: cli.workDir,
          memory: 'fresh',
          overlap: 'skip',
          maxTier: 3,
          hookSecret: expect.stringMatching(/^[\w-]{32}$/),
          prompt: expect.stringMatching(/http:\/\/127\.0\.0\.1:8096.*container jellyfin/),
        }),
      },
    ])
    const tiers = tierEntries(config.tiers)
    expect(tiers.map(([number]) => number)).toEqual(['1', '2', '3'])
    for (const [, { promptFile, tools }] of tiers) {
      expect(readFileSync(promptFile ?? '', 'utf8')).toMatch(/^# \w/)
      expect(tools).toMatchObject({ claude: expect.arrayContaining(['Bash']) })
      expect(stdout).toContain(`wrote ${promptFile}\n`)
    }
    expect(readFileSync(config.tiers['2']?.promptFile ?? '', 'utf8')).toContain('CronCreate')
    expect(config.policy.never.length).toBeGreaterThan(0)
    expect(statSync(settings()).mode & 0o777).toBe(0o600)
    expect(stderr).toContain('  reprise up\n  reprise watch trigger --follow media\n')
  })

  test('as asked for', async () => {
    mkdirSync(join(cli.workDir, 'it: "odd" #1'))
    const options = ['--url', 'https://[::1]:8443/a?b=c#d', '--container', 'web_1', '--every', '90s']
    const { code, json } = await init('watch', 'web', ...options, '--dir', 'it: "odd" #1', '--json')
    expect(code).toBe(0)
    expect(json()).toMatchObject({
      watch: 'web',
      written: [settings(), {}, {}, {}].map(() => expect.any(String)),
    })
    expect(load().watches[0]).toMatchObject({
      name: 'web',
      definition: {
        everyMs: 90_000,
        workDir: join(cli.workDir, 'it: "odd" #1'),
        prompt: expect.stringContaining('https://[::1]:8443/a?b=c#d'),
      },
    })
  })

  test.each(['1', 'true', '0x10', '1.5', '1e3', 'null', 'y', '01'])(
    'a name that YAML might take for something else: %s',
    async (name) => {
      expect((await init('watch', name)).code).toBe(0)
      expect(load().watches.map((watch) => watch.name)).toEqual([name])
    },
  )

  test('a file that is there is not touched: what is to be added is printed, and is right', async () => {
    writeSettings('maxTier: 2\n')
    const { code, stdout, stderr } = await init('watch')
    expect(code).toBe(1)
    expect(stderr).toContain('was not changed')
    expect(readFileSync(settings(), 'utf8')).toBe('maxTier: 2\n')
    expect((await init('watch', '--json')).json()).toMatchObject({ written: [], file: settings() })
    writeSettings(`maxTier: 3\n${stdout}`)
    expect(load().watches).toHaveLength(1)
  })

  test('comments are no settings, and stay', async () => {
    writeSettings('# nothing yet\n')
    expect((await init('watch')).code).toBe(0)
    expect(readFileSync(settings(), 'utf8')).toMatch(/^# nothing yet\n/)
    expect(load().watches).toHaveLength(1)
  })

  test('--force adds it, with all that was there and a copy', async () => {
    const before = `# mine
dryRun: true # carefully
tiers:
  "2": { model: opus }
watches:
  other: { every: 1h, prompt: Look. }   # stays
  media: { every: 2h, prompt: Old. }
`
    writeSettings(before)
    expect((await init('watch', '--force')).code).toBe(0)
    const text = readFileSync(settings(), 'utf8')
    for (const comment of ['# mine', '# carefully', '# stays']) expect(text).toContain(comment)
    expect(readFileSync(`${settings()}.before-init`, 'utf8')).toBe(before)
    const { config, watches } = load()
    expect(config.dryRun).toBe(true)
    expect(config.tiers['2']).toMatchObject({
      model: 'opus',
      promptFile: expect.stringContaining('tier2-safe'),
    })
    expect(watches.map(({ name, definition }) => [name, definition.everyMs])).toEqual([
      ['other', 3_600_000],
      ['media', 1_800_000],
    ])
    expect((await init('watch', 'second', '--force')).code).toBe(0)
    expect(load().watches.map(({ name }) => name)).toEqual(['other', 'media', 'second'])
  })

  test.each([
    'watches:\ntiers:\n',
    'tiers: {1: , 2: ~}\n',
    'tiers: {}\n',
    '{dryRun: true}\n',
    'watches: {1: {prompt: x}}\n',
  ])('--force with %j', async (before) => {
    writeSettings(before)
    expect((await init('watch', '1', '--force', '--every', '1h')).code).toBe(0)
    expect((await init('watch', '1', '--force', '--every', '2h')).code).toBe(0)
    expect(load().watches.map(({ definition }) => definition.everyMs)).toEqual([7_200_000])
  })

  test.each(['a: [', '- a\n', 'text\n', 'watches: 5\n', 'tiers: [1]\n'])(
    '--force with %j is refused',
    async (before) => {
      writeSettings(before)
      const { code, stderr } = await init('watch', '--force')
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/config\.yaml (is not valid YAML|has no mapping)/),
      ])
      expect(readFileSync(settings(), 'utf8')).toBe(before)
    },
  )

  test('a prompt of yours stays as it is', async () => {
    mkdirSync(join(cli.home, 'prompts'), { recursive: true })
    const mine = join(cli.home, 'prompts', 'tier1-observe.md')
    writeFileSync(mine, 'Mine.')
    const { stdout } = await init('watch')
    expect(readFileSync(mine, 'utf8')).toBe('Mine.')
    expect(stdout).not.toContain('tier1-observe')
    expect((await init('watch', '--force')).code).toBe(0)
    expect(readFileSync(`${mine}.before-init`, 'utf8')).toBe('Mine.')
  })

  test.each([
    [['watch', 'Media'], 'expected up to 63 lower-case letters'],
    [['watch', '--url', 'ftp://x'], 'expected an http or https address'],
    [['watch', '--url', 'http://x/\n# y'], 'expected an http or https address'],
    [['watch', '--container', 'a b'], 'expected the name of a container'],
    [['watch', '--every', '1s'], '--every 1s: must be between 10s and 366d'],
    [['watch', '--dir', 'nowhere'], 'is not a directory'],
    [['wacth'], 'unknown command "init wacth"'],
  ])('wrong usage: %j', async (args, message) => {
    const { code, stdout, stderr } = await init(...args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
    expect(existsSync(cli.home)).toBe(false)
  })
})
