import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCli } from './cli.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

const cli = createCli()
/** The same in this process, for long tables of what is said: it need not start a hundred times. */
let inside: CliDouble
beforeAll(async () => {
  inside = await createCliDouble({ up: false })
})
afterAll(async () => {
  await cli.close()
  await inside.close()
})

const COMMANDS = [
  'up',
  'down',
  'status',
  'doctor',
  'run',
  'investigate',
  'jobs',
  'watch',
  'followups',
  'chat',
  'conversations',
  'runs',
  'sessions',
  'agents',
  'policy',
  'stats',
  'config',
  'completion',
  'service',
  'logs',
  'init',
  'simulate',
]

describe('help', () => {
  test('names every command, the exit codes and examples', async () => {
    const { code, stdout } = await cli.run(['--help'])
    expect(code).toBe(0)
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
    expect(stdout).toContain('Exit codes: 0 done')
    expect(stdout).toContain('Examples:')
  })

  test.each(COMMANDS)('%s has its own, with examples', async (command) => {
    const { code, stdout, stderr } = await inside.run([command, '--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Usage: reprise ${command}`)
    expect(stdout).toContain('Examples:')
    expect(stdout).toContain('--json')
  })

  test.each([
    [['runs', '--limit', '5', '--help'], 'Usage: reprise runs'],
    [['--json', 'runs', 'show', 'run_01M7P4M9A578QN3YY0VCX470DV', '--help'], 'Usage: reprise runs show'],
    [['run', 'demo', '--help'], 'Usage: reprise run'],
    [['help', 'runs'], 'Usage: reprise runs'],
    [['help', 'watch', 'add'], 'Usage: reprise watch add'],
    [['--json', 'help', 'jobs', 'retry'], 'Usage: reprise jobs retry'],
  ])('%j', async (args, usage) => {
    const { code, stdout } = await inside.run(args)
    expect([code, stdout]).toEqual([0, expect.stringContaining(usage)])
  })

  test('without a command it goes to stderr', async () => {
    const { code, stdout, stderr } = await cli.run([])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Usage: reprise')
  })

  test('the version', async () => {
    const { code, stdout } = await cli.run(['--version'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
  })
})

describe('wrong usage exits with 2, says why, and starts nothing', () => {
  test.each([
    [['rnu'], "unknown command 'rnu'", 'Did you mean'],
    [['runs', 'shw'], 'unknown command "runs shw"', 'Did you mean runs show?'],
    [
      ['sessions', 'frobnicate'],
      'unknown command "sessions frobnicate"',
      'Expected one of: list, show, adopt',
    ],
    [['gibberish', '--help'], "unknown command 'gibberish'", '--help'],
    [['help', 'gibberish'], "unknown command 'gibberish'", '--help'],
    [
      ['sessions', 'frobnicate', '--help'],
      'unknown command "sessions frobnicate"',
      'Expected one of: list, show',
    ],
    [['simulate', '--port', '99999'], 'must be between 0 and 65535', '--help'],
    [['run', '--modle', 'x', 'y'], "unknown option '--modle'", 'Did you mean --model?'],
    [['status', 'extra'], 'too many arguments', '--help'],
    [['run', '--timeout', 'soon', 'x'], 'expected a duration such as 90s, 30m or 2h', '--help'],
    [['run', '--permissions', 'all', 'x'], 'Allowed choices are ask-all, ask, edits, allow.', '--help'],
    [['run', '--max-turns', '-1', 'x'], '--max-turns -1: must be between 1 and 10000', '--help'],
    [['run', '--max-budget-usd', '0', 'x'], 'must be an amount above 0', '--help'],
    [['run', '--max-budget-usd', '-5', 'x'], 'must be an amount above 0', '--help'],
    [['run', '--max-budget-usd', 'Infinity', 'x'], 'must be an amount above 0', '--help'],
    [['run', '--max-budget-usd', 'NaN', 'x'], 'must be an amount above 0', '--help'],
    [['run', '--max-budget-tokens', '1e9', 'x'], 'expected a whole number', '--help'],
    [['run', '--max-resumes', 'many', 'x'], 'expected a whole number', '--help'],
    [['run', '--priority', 'high', 'x'], 'expected a whole number', '--help'],
    [['run', '--checkpoint-every', '-5m', 'x'], 'expected a duration', '--help'],
    [['run', '--on-change', 'panic', 'x'], 'Allowed choices are continue, restore, stop.', '--help'],
    [['run', '--model'], "option '--model <name>' argument missing", '--help'],
    [['runs', 'show'], "missing required argument 'id'", '--help'],
    [['runs', 'show', 'job_1'], 'expected an id such as run_01J…', '--help'],
    [['runs', 'show', '../../etc'], 'expected an id such as run_01J…', '--help'],
    [['jobs', 'show', 'run_1'], 'expected an id such as job_01J…', '--help'],
    [['jobs', 'retry'], "missing required argument 'id'", '--help'],
    [
      ['jobs', 'retry', '--fersh', 'job_01M7P4M9A578QN3YY0VCX470DV'],
      "unknown option '--fersh'",
      'Did you mean --fresh?',
    ],
    [
      ['jobs', 'rety', 'job_01M7P4M9A578QN3YY0VCX470DV'],
      'unknown command "jobs rety"',
      'Did you mean jobs retry?',
    ],
    [['jobs', 'raise', 'job_01M7P4M9A578QN3YY0VCX470DV'], 'nothing to change', 'Give --budget-usd'],
    [
      ['jobs', 'raise', 'job_01M7P4M9A578QN3YY0VCX470DV', '--budget-usd', 'lots'],
      'such as 2.50, or none',
      '--help',
    ],
    [['jobs', 'restore', 'job_01M7P4M9A578QN3YY0VCX470DV', 'last'], 'expected a whole number', '--help'],
    [['jobs', 'diff', 'job_01M7P4M9A578QN3YY0VCX470DV', '-1'], 'expected a whole number', '--help'],
    [['jobs', '--state', 'settled'], 'Allowed choices are queued, running', '--help'],
    [['watch', 'shwo', 'media'], 'unknown command "watch shwo"', 'Did you mean watch show?'],
    [['watch', 'add', 'a', '--evry', '1m', 'x'], "unknown option '--evry'", 'Did you mean --every?'],
    [['followups', 'add', '--in', '1m', 'x'], 'expected either --run or --session', 'They name the session'],
    [['sessions', 'show', '..'], 'expected an id such as ses_01J…', '--help'],
    [['sessions', 'import', 'missing.gz'], 'cannot read missing.gz', ''],
    [['sessions', 'import', '.'], '. is not a file', ''],
    [['sessions', 'move', 'ses_01M7P4M9A578QN3YY0VCX470DV'], "'--dir <directory>' not specified", ''],
    [['jobs', 'rewind', 'job_01M7P4M9A578QN3YY0VCX470DV', '--to', 'x'], 'expected', ''],
    [['run', ''], 'the prompt is empty', ''],
    [['run', '-'], 'the prompt on stdin is empty', ''],
    [['chat'], 'the prompt on stdin is empty', ''],
    [
      ['chat', 'hello'],
      'expected an id such as cnv_01J…, a part of one, or last. Give a message with -m',
      '--help',
    ],
    [['chat', '-m', ' '], 'the message is empty', ''],
    [
      ['chat', 'cnv_01M7P4M9A578QN3YY0VCX470DV', '--cwd', '/tmp', '-m', 'x'],
      '--cwd and --scope cannot be changed',
      'Leave them out',
    ],
    [['chat', '--scope', 'all', '-m', 'x'], 'Allowed choices are shared, agent.', '--help'],
    [
      ['chat', '--instructions', 'nowhere.md', '-m', 'x'],
      'cannot read the file with the instructions: ENOENT',
      '',
    ],
    [['conversations', 'show', 'run_1'], 'expected an id such as cnv_01J…', '--help'],
    [['conversations', 'erase', 'x'], 'unknown command "conversations erase"', 'Expected one of'],
  ])('%j', async (args, message, hint) => {
    const { code, stdout, stderr } = await inside.run(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('error: ')
    expect(stderr).toContain(message)
    if (hint) expect(stderr).toMatch(new RegExp(`hint: .*${hint.replaceAll(/[?]/g, '\\?')}`))

    const asJson = await inside.run([...args, '--json'])
    expect([asJson.code, asJson.stderr]).toEqual([2, ''])
    expect(asJson.json()).toMatchObject({
      error: { code: 'usage', message: expect.stringContaining(message) },
    })
    expect(existsSync(inside.home)).toBe(false)
  })

  test.each([[['rnu']], [['run', '--modle', 'x', 'y']], [['run', '-']], [['sessions', 'show', '..']]])(
    '%j, as a process of its own: to the byte what it says in this one',
    async (args) => {
      for (const words of [args, [...args, '--json']]) {
        const { code, stdout, stderr } = await inside.run(words)
        expect(await cli.run(words)).toMatchObject({ code, stdout, stderr })
      }
      expect(existsSync(cli.home)).toBe(false)
    },
  )

  test('a prompt that is not text', async () => {
    const running = cli.start(['run', '-'], { stdin: Buffer.from([0x68, 0xff, 0xfe]) as unknown as string })
    expect(await running.result).toMatchObject({ code: 2, stderr: expect.stringContaining('not UTF-8') })
  })
})

describe('no daemon', () => {
  test('status exits with 3 and does not start one', async () => {
    const { code, stderr } = await cli.run(['status'])
    expect(code).toBe(3)
    expect(stderr).toContain('Start it with: reprise up')
    expect((await cli.inside(['status', '--json'])).json()).toMatchObject({
      error: { code: 'daemon-unreachable' },
    })
  })

  test('down has nothing to do', async () => {
    expect((await cli.run(['down', '--json'])).json()).toEqual({ wasRunning: false })
  })

  test('a daemon.json that nobody stands behind does not count', async () => {
    const other = createCli()
    mkdirSync(other.home, { recursive: true })
    const closedPort = await new Promise<number>((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => {
        const { port } = server.address() as { port: number }
        server.close(() => resolve(port))
      })
    })
    writeFileSync(join(other.home, 'token'), 'x')
    for (const file of [
      '',
      '{}',
      '{"pid":"1; rm -rf /","url":"x"}',
      // A pid that someone else has now.
      JSON.stringify({
        pid: process.pid,
        url: `http://127.0.0.1:${closedPort}`,
        startedAt: new Date().toISOString(),
      }),
    ]) {
      writeFileSync(join(other.home, 'daemon.json'), file)
      expect((await other.inside(['status'])).code).toBe(3)
    }
    await other.close()
  })
})

test('a token that was changed while the daemon runs: each command says which file, and how to end the daemon', async () => {
  const other = createCli()
  await other.run(['up'])
  const pid = other.daemonPid()
  const token = readFileSync(join(other.home, 'token'))
  writeFileSync(join(other.home, 'token'), '')
  for (const command of ['up', 'down', 'status', 'runs']) {
    const { code, stderr } = await other.inside([command])
    expect(code).toBe(1)
    expect(stderr).toContain(`the daemon (pid ${pid}) does not accept the token in ${other.home}/token`)
    expect(stderr).toContain(`kill ${pid}`)
  }
  expect((await other.inside(['doctor'])).stdout).toMatch(new RegExp(`^fail daemon .*pid ${pid}`, 'm'))
  writeFileSync(join(other.home, 'token'), token)
  await other.close()
})

describe('what keeps the daemon from starting is said by whoever started it', () => {
  test('a broken configuration', async () => {
    const broken = createCli()
    mkdirSync(broken.home, { recursive: true, mode: 0o700 })
    writeFileSync(join(broken.home, 'config.yaml'), 'server:\n  prot: 1\n')
    const { code, stderr } = await broken.run(['up'])
    expect(code).toBe(1)
    expect(stderr).toContain('config.yaml:2')
    expect(stderr).toContain('server.prot')
    expect((await broken.run(['runs', '--json'])).json()).toMatchObject({ error: { code: 'config-invalid' } })
    await broken.close()
  })

  test('a taken port', async () => {
    const holder = createServer()
    const port = await new Promise<number>((resolve) =>
      holder.listen(0, '127.0.0.1', () => resolve((holder.address() as { port: number }).port)),
    )
    const { code, stderr } = await cli.run(['up'], { env: { REPRISE_PORT: String(port) } })
    expect(code).toBe(1)
    expect(stderr).toContain(`127.0.0.1:${port} is used by another program`)
    expect(stderr).toContain('hint: ')
    const doctor = await cli.inside(['doctor'], { env: { REPRISE_PORT: String(port) } })
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toMatch(/^fail port .*is in use by another program/m)
    holder.close()
  })

  test('a home that is a file', async () => {
    const file = join(cli.workDir, 'file')
    writeFileSync(file, '')
    const env = { REPRISE_HOME: file }
    expect(await cli.run(['up'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Move that file away'),
    })
    expect((await cli.inside(['doctor'], { env })).stdout).toMatch(/^fail home .*is not a directory/m)
  })
})

describe('doctor', () => {
  test('says what is well and changes nothing', async () => {
    const fresh = createCli()
    const { code, stdout } = await fresh.run(['doctor'])
    expect(code).toBe(0)
    for (const name of [
      'node',
      'git',
      'proc',
      'sh',
      'mkfifo',
      'home',
      'disk',
      'config',
      'daemon',
      'processes',
      'port',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ok {3}${name} `, 'm'))
    }
    expect(stdout).toMatch(/^warn agent claude .*simulator/m)
    expect(existsSync(fresh.home)).toBe(false)
    await fresh.close()
  })

  test('tries the connection of each agent to its model, and sends nothing', async () => {
    let received = 0
    const server = createServer((socket) => socket.on('data', (data) => (received += data.length)))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const fresh = createCli({ ANTHROPIC_API_KEY: 'made-up', ANTHROPIC_BASE_URL: url, NO_PROXY: '127.0.0.1' })
    const well = await fresh.inside(['doctor'])
    expect(well.stdout).toContain(`ok   connection   ${url} can be reached (for claude)`)
    expect(well.code).toBe(0)
    expect(received).toBe(0)
    // Nobody speaks TLS there.
    const env = { ANTHROPIC_BASE_URL: `https://127.0.0.1:${port}` }
    server.once('connection', (socket) => socket.destroy())
    expect((await fresh.inside(['doctor'], { env })).stdout).toMatch(/^fail connection .*cannot be reached/m)
    await new Promise((closed) => server.close(closed))
    const away = await fresh.inside(['doctor'])
    expect(away.stdout).toMatch(/^fail connection .*ECONNREFUSED\n.*ANTHROPIC_BASE_URL/m)
    expect(away.code).toBe(1)
    await fresh.close()
  })

  test('warns of an address that other machines can reach, as a starting daemon does', async () => {
    const said = 'can be reached from other machines'
    const doctor = await cli.inside(['doctor'], { env: { REPRISE_HOST: '0.0.0.0' } })
    expect(doctor.stdout).toMatch(new RegExp(`^warn host .*${said}`, 'm'))
    expect((await cli.inside(['doctor'])).stdout).not.toContain(said)
    // Loopback in fact, so that nothing is exposed; it takes more than a look at it to know.
    const other = createCli({ REPRISE_HOST: '127.1' })
    expect((await other.run(['up'])).stdout).toContain(said)
    await other.close()
  })

  test('exits with 4 if there is no agent', async () => {
    const without = createCli()
    mkdirSync(without.home, { recursive: true, mode: 0o700 })
    writeFileSync(join(without.home, 'config.yaml'), 'agents:\n  claude:\n    command: /nowhere/claude\n')
    const { code, stdout } = await without.inside(['doctor', '--json'])
    expect(code).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'agent claude', status: 'fail' })]),
    })
    await without.close()
  })
})

describe('simulate', () => {
  test('serves, says where, and stops on Ctrl-C', async () => {
    const running = cli.start(['simulate', '--json'])
    await running.says('\n')
    running.kill('SIGINT')
    const { code, stdout } = await running.result
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) })
  })

  test('names what is wrong with a scenario', async () => {
    const file = join(cli.workDir, 'bad.yaml')
    writeFileSync(file, 'rules:\n  - wen: hello\n    reply: hi\n')
    const { code, stderr } = await cli.inside(['simulate', '--scenario', file])
    expect(code).toBe(1)
    expect(stderr).toContain('bad.yaml:2')
    const missing = await cli.inside(['simulate', '--scenario', 'nowhere.yaml', '--json'])
    expect(missing.json()).toMatchObject({ error: { code: 'scenario-invalid' } })
  })
})
