/** Which executable an agent is, what it can do, and which of our environment variables it gets. */
import { chmodSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { probeClaude } from '../../src/agents/claude/probe.ts'
import { buildEnvironment } from '../../src/agents/environment.ts'
import { AgentRegistry, type ConfiguredAgent } from '../../src/agents/registry.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import { handshakeAdapter } from '../support/handshake/adapter.ts'
import { temporaryDir } from './temporary-dir.ts'

const FLAGS = [
  '--input-format',
  '--output-format',
  '--resume',
  '--session-id',
  '--fork-session',
  '--include-partial-messages',
  '--max-budget-usd',
  '--json-schema',
  '--tools',
  '--setting-sources',
  '--strict-mcp-config',
]

/** A script that answers --version and --help, and records each start. */
function fakeClaude(
  dir: string,
  { flags = FLAGS, version = '2.1.0 (Claude Code)', name = 'claude', tail = '' } = {},
) {
  const path = join(dir, name)
  const help = flags.map((flag) => `  ${flag} <value>  does things`).join('\n')
  const script = `#!/bin/sh
echo "$1" >>${dir}/invocations
case $1 in
  --version) echo '${version}' ;;
  --help) cat <<'END'
${help}
END
  ;;
esac
${tail}
`
  writeFileSync(path, script, { mode: 0o755 })
  return realpathSync(path)
}

const env = { PATH: '/usr/bin:/bin' }

async function failureOf(promise: Promise<unknown>): Promise<RepriseError> {
  const error = await promise.catch((e: unknown) => e)
  expect(error).toBeInstanceOf(RepriseError)
  return error as RepriseError
}

describe('the probe', () => {
  it('finds version and capabilities of the real CLI', async () => {
    const path = join(import.meta.dirname, '../../node_modules/.bin/claude')
    const runtime = await probeClaude(path, { PATH: process.env.PATH ?? '', HOME: temporaryDir() })
    expect(runtime.version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(Object.values(runtime.capabilities)).toEqual(Array(9).fill(true))
  })

  it.each([
    ['--resume', 'resume'],
    ['--session-id', 'sessionId'],
    ['--fork-session', 'fork'],
    ['--include-partial-messages', 'partialMessages'],
    ['--max-budget-usd', 'budget'],
    ['--json-schema', 'structuredOutput'],
    ['--tools', 'toolChoice'],
    ['--setting-sources', 'sealing'],
    ['--strict-mcp-config', 'sealing'],
  ] as const)(
    'without %s in the help: cannot %s, but has all other capabilities',
    async (flag, capability) => {
      const path = fakeClaude(temporaryDir(), { flags: FLAGS.filter((f) => f !== flag) })
      const { capabilities } = await probeClaude(path, env)
      expect(Object.entries(capabilities).filter(([, can]) => !can)).toEqual([[capability, false]])
    },
  )

  it('is not misled by a flag with the same beginning', async () => {
    const flags = ['--input-format', '--output-format', '--resume-session-at', '--no-session-id']
    const { capabilities } = await probeClaude(fakeClaude(temporaryDir(), { flags }), env)
    expect(capabilities).toMatchObject({ resume: false, sessionId: false })
  })

  it.each([
    ['exits with an error', '#!/bin/sh\necho broken >&2\nexit 3\n'],
    ['is no program', 'no shebang, \0 no elf'],
    ['names an interpreter that is not there', '#!/nowhere/node\n'],
  ])('of an executable that %s says which one and what to do', async (_, content) => {
    const path = join(temporaryDir(), 'claude')
    writeFileSync(path, content, { mode: 0o755 })
    const error = await failureOf(probeClaude(path, env))
    expect(error.code).toBe('agent-unavailable')
    expect(error.message).toContain(path)
    expect(error.hint).toBeTruthy()
  })

  it('of something that is not Claude Code says so', async () => {
    const error = await failureOf(probeClaude(fakeClaude(temporaryDir(), { flags: ['--color'] }), env))
    expect(error).toMatchObject({ code: 'agent-unavailable' })
    expect(error.message).toContain('does not look like Claude Code')
  })
})

describe('the registry', () => {
  function registryOf(agent: Partial<ConfiguredAgent>, fallbackDirs: string[] = []) {
    const stored = new Map<string, string>()
    const cache = {
      get: async (key: string) => stored.get(key) ?? null,
      put: async (key: string, value: string) => void stored.set(key, value),
    }
    const configured: ConfiguredAgent = {
      name: 'claude',
      adapter: claudeAdapter,
      command: null,
      env,
      model: null,
      args: [],
      simulated: false,
      ...agent,
    }
    return { registry: new AgentRegistry([configured], cache, fallbackDirs), cache, configured }
  }

  const invocations = (dir: string) =>
    readFileSync(join(dir, 'invocations'), 'utf8').trim().split('\n').toSorted()

  it('probes an executable once, also when asked many times at once and by the next daemon', async () => {
    const dir = temporaryDir()
    const command = fakeClaude(dir)
    const { registry, cache, configured } = registryOf({ command })
    const runtimes = await Promise.all([1, 2, 3].map(() => registry.runtime('claude')))
    expect(new Set(runtimes.map(({ runtimeId }) => runtimeId)).size).toBe(1)
    await registry.runtime('claude')
    const next = new AgentRegistry([configured], cache, [])
    expect(await next.runtime('claude')).toEqual(runtimes[0])
    expect(invocations(dir)).toEqual(['--help', '--version'])
  })

  it('knows the adapter of a runtime also when its agent was removed or reconfigured', async () => {
    const { registry, cache, configured } = registryOf({ name: 'old', command: fakeClaude(temporaryDir()) })
    const { runtimeId } = await registry.runtime('old')
    const other = { ...claudeAdapter, name: 'other' }
    const gone = new AgentRegistry([], cache, [], [other, claudeAdapter])
    expect(await gone.adapterOf('old', runtimeId)).toBe(claudeAdapter)
    expect(await failureOf(gone.adapterOf('old', 'never seen'))).toMatchObject({ code: 'agent-unknown' })
    const changed = new AgentRegistry([{ ...configured, adapter: other }], cache, [], [claudeAdapter])
    expect(await changed.adapterOf('old', runtimeId)).toBe(claudeAdapter)
    expect(await changed.adapterOf('old', 'never seen')).toBe(other)
  })

  it('probes it again when the file has changed', async () => {
    const dir = temporaryDir()
    const command = fakeClaude(dir)
    const { registry } = registryOf({ command })
    const before = await registry.runtime('claude')
    fakeClaude(dir, { version: '3.0.0 (Claude Code)', flags: FLAGS.filter((flag) => flag !== '--resume') })
    const after = await registry.runtime('claude')
    expect(after).toMatchObject({ version: '3.0.0', capabilities: { resume: false } })
    expect(after.runtimeId).not.toBe(before.runtimeId)
    expect(invocations(dir)).toHaveLength(4)
  })

  it("has the same runtime after an upgrade whose link leads to another version's folder", async () => {
    const [bin, ...versions] = [temporaryDir(), temporaryDir(), temporaryDir(), temporaryDir()] as const
    const command = join(bin, 'claude')
    const install = (dir: string, fake: object) => {
      rmSync(command, { force: true })
      symlinkSync(fakeClaude(dir, fake), command)
    }
    const { registry } = registryOf({ env: { PATH: `${bin}:/usr/bin:/bin` } })
    install(versions[0], { version: '2.1.325 (Claude Code)' })
    const before = await registry.runtime('claude')
    install(versions[1], { version: '2.1.326 (Claude Code)' })
    const after = await registry.runtime('claude')
    expect(after).toMatchObject({ command, version: '2.1.326', runtimeId: before.runtimeId })
    expect(after.runtimeId).toMatch(/^[0-9a-f]{16}$/)
    expect(after.path).not.toBe(before.path)
    install(versions[2], { version: '2.1.327', flags: FLAGS.slice(0, 3) })
    expect((await registry.runtime('claude')).runtimeId).not.toBe(before.runtimeId)
    const elsewhere = registryOf({ command: fakeClaude(temporaryDir()) }).registry
    expect((await elsewhere.runtime('claude')).runtimeId).not.toBe(before.runtimeId)
  })

  it('uses the same name in every home, and in every checkout that contains it', async () => {
    const runtimeIn = async (home: string) => {
      mkdirSync(join(home, 'bin'))
      fakeClaude(join(home, 'bin'))
      const inHome = { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin` }
      return registryOf({ env: inHome }).registry.runtime('claude')
    }
    const [here, there] = [await runtimeIn(temporaryDir()), await runtimeIn(temporaryDir())]
    expect(here).toMatchObject({ command: '~/bin/claude', runtimeId: there.runtimeId })
    const [a, b] = [temporaryDir(), temporaryDir()]
    for (const dir of [a, b]) fakeClaude(dir)
    const bundledIn = (dir: string) =>
      registryOf({ env: { PATH: '/usr/bin:/bin' } }, [dir]).registry.runtime('claude')
    expect((await bundledIn(a)).runtimeId).toBe((await bundledIn(b)).runtimeId)
  })

  it('probes a broken executable again: it may have been repaired', async () => {
    const dir = temporaryDir()
    const command = fakeClaude(dir, { tail: `[ -e ${dir}/repaired ]` })
    const { registry } = registryOf({ command })
    expect((await failureOf(registry.runtime('claude'))).code).toBe('agent-unavailable')
    writeFileSync(join(dir, 'repaired'), '')
    expect(await registry.runtime('claude')).toMatchObject({ version: '2.1.0' })
  })

  it("searches the agent's PATH first, then the checkout's executables, through links", async () => {
    const [onPath, bundled, home] = [temporaryDir(), temporaryDir(), temporaryDir()]
    const real = fakeClaude(home, { name: 'claude-2.js' })
    symlinkSync(real, join(bundled, 'claude'))
    const { registry } = registryOf({ env: { PATH: `${onPath}:/usr/bin:/bin` } }, [bundled])
    expect((await registry.runtime('claude')).path).toBe(real)
    const nearer = fakeClaude(onPath)
    expect((await registry.runtime('claude')).path).toBe(nearer)
  })

  it('skips folders and files that are not executable', async () => {
    const [a, b, c] = [temporaryDir(), temporaryDir(), temporaryDir()]
    mkdirSync(join(a, 'claude'))
    chmodSync(fakeClaude(b), 0o644)
    const usable = fakeClaude(c)
    const { registry } = registryOf({ env: { PATH: `${a}:${b}:${c}:/usr/bin:/bin` } })
    expect((await registry.runtime('claude')).path).toBe(usable)
  })

  it('says what it looked for when nothing is found, and how to install it', async () => {
    const none = registryOf({ env: { PATH: temporaryDir() } }).registry
    const error = await failureOf(none.runtime('claude'))
    expect(error).toMatchObject({ code: 'agent-unavailable', hint: expect.stringContaining('npm install') })
    const wrong = registryOf({ command: '/nowhere/claude' }).registry
    expect(await failureOf(wrong.runtime('claude'))).toMatchObject({
      message: expect.stringContaining('/nowhere/claude'),
      hint: expect.stringContaining('agents.claude.command'),
    })
  })

  it('lists the configured agents when asked for an unknown one', async () => {
    const error = await failureOf(registryOf({}).registry.runtime('gpt'))
    expect(error).toMatchObject({ code: 'agent-unknown', hint: expect.stringContaining('claude') })
  })

  it('describes what is available and what is wrong with the rest', async () => {
    const home = temporaryDir()
    const good = registryOf({ command: fakeClaude(home), env: { ...env, CLAUDE_CONFIG_DIR: home } }).registry
    expect(await good.describe()).toMatchObject([
      { name: 'claude', available: true, problem: null, version: '2.1.0', loggedIn: false },
    ])
    const bad = registryOf({ command: '/nowhere', env: { ...env, ANTHROPIC_API_KEY: 'k' } }).registry
    expect(await bad.describe()).toMatchObject([
      { available: false, problem: expect.stringContaining('/nowhere'), version: null, loggedIn: true },
    ])
  })
})

describe('the environment of an agent', () => {
  const machine = {
    PATH: '/bin',
    HOME: '/h',
    LC_ALL: 'C',
    HTTPS_PROXY: 'p',
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CONFIG_DIR: '/c',
    CLAUDECODE: '1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_CODE_CHILD_SESSION: '1',
    AWS_SECRET_ACCESS_KEY: 'secret',
    REPRISE_TOKEN: 'secret',
    NODE_OPTIONS: '--inspect',
    LD_PRELOAD: '/evil.so',
    REPRISE_ATTEMPT: 'att_outer',
    UNSET: undefined,
  }

  it('has what any program needs and its vendor’s variables, nothing else', () => {
    expect(buildEnvironment(claudeAdapter, machine, {})).toEqual({
      PATH: '/bin',
      HOME: '/h',
      LC_ALL: 'C',
      HTTPS_PROXY: 'p',
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CONFIG_DIR: '/c',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    })
  })

  it('has the configured variables, which have precedence', () => {
    const built = buildEnvironment(claudeAdapter, machine, {
      HOME: '/other',
      AWS_REGION: 'eu',
      DISABLE_AUTOUPDATER: '0',
    })
    expect(built).toMatchObject({ HOME: '/other', AWS_REGION: 'eu', DISABLE_AUTOUPDATER: '0' })
  })
})

describe('an agent that was not named, or is no longer configured', () => {
  const agent = (name: string, adapter = claudeAdapter): ConfiguredAgent => ({
    name,
    adapter,
    command: null,
    env,
    model: null,
    args: [],
    simulated: false,
  })
  const registryOf = (...agents: ConfiguredAgent[]) =>
    new AgentRegistry(agents, { get: async () => null, put: async () => {} }, [])

  it('is the first configured one, or treated like it', () => {
    const registry = registryOf(agent('other', handshakeAdapter), agent('claude'))
    expect(registry.defaultName).toBe('other')
    expect(registry.likelyAdapter('claude')).toBe(claudeAdapter)
    expect(registry.likelyAdapter('gone')).toBe(handshakeAdapter)
  })

  it('is an error if none is configured', () => {
    expect(() => registryOf().defaultName).toThrow('no agent is configured')
  })

  it('has its own install hint if its program is not found', async () => {
    const registry = registryOf({ ...agent('other', handshakeAdapter), env: { PATH: '' } })
    expect(await failureOf(registry.runtime('other'))).toMatchObject({ hint: handshakeAdapter.installHint })
  })
})
