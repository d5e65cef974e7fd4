/** The CLI with a real daemon and a real agent, which talks to a scripted model. */
import { cpSync, existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '../../src/contract/http.ts'
import type { Run } from '../../src/contract/run.ts'
import { type Simulator, startSimulator } from '../../src/simulator/server.ts'
import { type Cli, createCli } from './cli.ts'

let simulator: Simulator
let cli: Cli
beforeAll(async () => {
  simulator = await startSimulator({
    scenario: {
      rules: [
        { when: 'wait', reply: [{ text: 'Waiting.' }, { hold: 'gate' }, { text: ' Went on.' }] },
        {
          when: 'use a tool',
          reply: [
            { tool: 'Bash', input: { command: 'echo made > made.txt' } },
            { await: 'results' },
            { text: 'Used it.' },
          ],
        },
        { reply: [{ text: 'You said: ${user}' }] },
      ],
    },
  })
  cli = createCli({ ANTHROPIC_BASE_URL: simulator.url, ANTHROPIC_API_KEY: 'simulated' })
})
afterAll(async () => {
  await cli.close()
  await simulator.close()
})

const lastRun = async () =>
  (await cli.inside(['runs', 'list', '--json', '--limit', '1'])).json<Page<Run>>().items[0]!

test('two commands at once start one daemon, and both are served', async () => {
  const [a, b] = await Promise.all([cli.run(['runs', '--json']), cli.run(['sessions', '--json'])])
  expect([a.code, b.code]).toEqual([0, 0])
  expect(a.json()).toEqual({ items: [], nextCursor: null })
  expect(`${a.stderr}${b.stderr}`).toContain('Started the daemon at http://127.0.0.1:')
  const up = (await cli.run(['up', '--json'])).json()
  expect(up).toMatchObject({ alreadyRunning: true, pid: cli.daemonPid() })
  expect((await cli.run(['status', '--json'])).json()).toMatchObject({ pid: cli.daemonPid(), running: [] })
  expect(await cli.run(['up', '--foreground'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`pid ${up.pid}`),
  })
})

describe('run', () => {
  test('the words on stdout, the rest on stderr', async () => {
    const { code, stdout, stderr } = await cli.run(['run', 'hello', 'there'])
    expect([code, stdout]).toEqual([0, 'You said: hello there\n'])
    expect(stderr).toContain('completed · new session')
    expect(stderr).toMatch(/continue with: reprise run --session ses_\w+/)
  })

  test('prompts from stdin, and such that look like options', async () => {
    expect((await cli.run(['run', '-'], { stdin: 'from stdin' })).stdout).toBe('You said: from stdin\n')
    expect((await cli.inside(['run'], { stdin: 'piped' })).stdout).toBe('You said: piped\n')
    expect((await cli.inside(['run', '--', '--json', '--help'])).stdout).toBe('You said: --json --help\n')
  })

  test("what a command of the agent's own prints is its answer", async () => {
    const { code, stdout } = await cli.inside(['run', '/context'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^## Context Usage\n/)])
  })

  test("goes on in a session, by our id or the agent's", async () => {
    const { session, sessionId } = await lastRun()
    const { stderr } = await cli.inside(['run', '--session', session!, 'again'])
    expect(stderr).toContain('completed · resumed')
    expect((await cli.inside(['run', '--session', sessionId!, 'and again'])).stderr).toContain(
      'completed · resumed',
    )
    expect((await cli.inside(['run', '--session', session!, '--fresh-session', 'anew'])).stderr).toContain(
      'new session (requested)',
    )
  })

  test('--json: events, then the job, and nothing else', async () => {
    const { code, stdout } = await cli.inside(['run', '--json', 'hello'])
    expect(code).toBe(0)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; seq?: number })
    const job = lines.pop()
    expect(lines.map((event) => event.seq)).toEqual(lines.map((_, index) => index + 1))
    expect(lines.at(-1)?.type).toBe('run-end')
    expect(job).toMatchObject({
      type: 'job',
      state: 'completed',
      outcome: 'completed',
      resultText: 'You said: hello',
      attempts: [{ number: 1, outcome: { name: 'completed' } }],
    })
  })

  test('refusals: unknown agent 4, unusable directory 1, unknown session 1', async () => {
    expect(await cli.inside(['run', '--agent', 'nobody', 'x'])).toMatchObject({ code: 4, stdout: '' })
    const nowhere = await cli.inside(['run', '--json', '--cwd', '/nowhere', 'x'])
    expect([nowhere.code, nowhere.json()]).toMatchObject([1, { error: { code: 'work-dir-unusable' } }])
    expect((await cli.inside(['run', '--session', 'ses_01J00000000000000000000000', 'x'])).code).toBe(1)
    expect((await cli.inside(['run', '--model', '--help', 'x'])).code).toBe(2)
  })

  test('a second Ctrl-C leaves at once', async () => {
    const running = cli.start(['run', 'wait'])
    await running.says('Waiting.')
    running.kill('SIGINT')
    await running.says('cancelling the job')
    running.kill('SIGINT')
    expect((await running.result).code).toBe(130)
  })

  test('kill -9 of the daemon: the job is followed to its end on the next one', async () => {
    const running = cli.start(['run', 'wait'])
    await running.says('Waiting.')
    process.kill(cli.daemonPid(), 'SIGKILL')
    await running.says('lost the connection to the daemon')
    expect((await cli.run(['up'])).code).toBe(0)
    await simulator.waitForHold('gate')
    simulator.release('gate')
    const { code, stdout } = await running.result
    expect([code, stdout]).toEqual([0, 'Waiting.\n Went on.\n'])
  })
})

describe('questions', () => {
  test('are told on stderr and answered by another command', async () => {
    const running = cli.start(['run', '--permissions', 'ask-all', 'use a tool'])
    await running.says('answer with: reprise runs answer run_')
    const { id, pending } = await lastRun()
    expect(pending).toMatchObject([{ kind: 'permission', tool: 'Bash' }])
    expect((await cli.inside(['runs'])).stdout).toContain('asks you')
    expect((await cli.inside(['runs', 'answer', id])).code).toBe(2)
    expect((await cli.inside(['runs', 'answer', id, '--answer', 'x'])).code).toBe(2)
    expect((await cli.inside(['runs', 'answer', id, 'toolu_other', '--allow'])).code).toBe(1)
    expect((await cli.inside(['runs', 'answer', id, '--allow'])).code).toBe(0)
    expect(await running.result).toMatchObject({ code: 0, stdout: 'Used it.\n' })
    expect((await cli.inside(['runs', 'answer', id, '--allow'])).code).toBe(1)
  })
})

describe('runs and sessions', () => {
  test('show one, its events, and say when there is none', async () => {
    const { id, session } = await lastRun()
    expect((await cli.inside(['runs', 'show', id])).stdout).toContain('attempt 1')
    expect((await cli.inside(['runs', 'show', id, '--json'])).json()).toMatchObject({ id, attempts: [{}] })
    expect((await cli.inside(['runs', 'events', id])).stdout).toContain('run-end')
    expect((await cli.inside(['runs', 'events', id, '--json', '--after', '3'])).stdout).toMatch(
      /^\{"runId":.*"seq":4,/,
    )
    expect((await cli.inside(['sessions', 'show', session!, '--json'])).json()).toMatchObject({ id: session })
    expect((await cli.inside(['sessions', 'show', session!])).stdout).toMatch(
      /^transcript present, \d+ KiB /m,
    )
    expect((await cli.inside(['sessions'])).stdout).toContain(session!)
    expect((await cli.inside(['runs', 'show', 'run_01J00000000000000000000000'])).code).toBe(1)
    expect((await cli.inside(['runs', 'cancel', id])).code).toBe(1)
    expect((await cli.inside(['agents', '--json'])).json()).toMatchObject({
      items: [{ name: 'claude', available: true }],
    })
  })
})

describe('down', () => {
  test('leaves agents at work, which the next daemon takes over; --cancel does not', async () => {
    const id = (await cli.run(['run', '--detach', 'wait'])).stdout.trim()
    await simulator.waitForHold('gate')
    const down = await cli.run(['down'])
    expect(down.stdout).toContain('The next `reprise up` takes over 1 running agent')
    expect((await cli.inside(['status'])).code).toBe(3)
    expect((await cli.run(['jobs', 'show', id, '--json'])).json()).toMatchObject({ state: 'running' })
    expect((await cli.run(['down', '--cancel', '--json'])).json()).toMatchObject({
      cancelled: 1,
      runs: { running: 0 },
    })
    expect((await cli.run(['jobs', 'show', id, '--json'])).json()).toMatchObject({
      state: 'cancelled',
      outcome: 'cancelled',
    })
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('a daemon in the foreground ends well on %s', async (signal) => {
    await cli.run(['down'])
    const running = cli.start(['up', '--foreground'])
    await running.says('Reprise is up at')
    running.kill(signal)
    expect((await running.result).code).toBe(0)
  })

  test('a daemon whose home is removed says so and ends, and makes nothing there', async () => {
    const home = join(cli.workDir, 'removed')
    const running = cli.start(['up', '--foreground'], { env: { REPRISE_HOME: home } })
    await running.says('Reprise is up at')
    // The daemon may be writing there at this very moment.
    rmSync(home, { recursive: true, maxRetries: 20, retryDelay: 10 })
    const { code, stderr } = await running.result
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${home} was removed`)])
    expect(existsSync(home)).toBe(false)
  })

  const statusOf = (home: string) => cli.inside(['status', '--json'], { env: { REPRISE_HOME: home } })

  test('a copy of a home has no daemon, a link to it has that of the home', async () => {
    await cli.run(['up'])
    const [copy, link] = [join(cli.workDir, 'copy'), join(cli.workDir, 'link')]
    cpSync(cli.home, copy, { recursive: true })
    expect((await statusOf(copy)).code).toBe(3)
    expect((await cli.run(['down'], { env: { REPRISE_HOME: copy } })).stdout).not.toContain('Stopped')
    symlinkSync(cli.home, link)
    expect((await statusOf(link)).json()).toMatchObject({ pid: cli.daemonPid() })
  })

  test('a daemon whose home is renamed ends, and the next command starts one in the new place', async () => {
    const [home, moved] = [join(cli.workDir, 'renamed'), join(cli.workDir, 'moved')]
    const running = cli.start(['up', '--foreground'], { env: { REPRISE_HOME: home } })
    await running.says('Reprise is up at')
    const { pid } = (await statusOf(home)).json()
    renameSync(home, moved)
    expect((await statusOf(moved)).code).toBe(3)
    const up = await cli.run(['up', '--json'], { env: { REPRISE_HOME: moved } })
    expect(up.json()).toMatchObject({ alreadyRunning: false, home: moved })
    expect(up.json().pid).not.toBe(pid)
    const { code, stderr } = await running.result
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${home} was removed, renamed or replaced`)])
    expect(existsSync(home)).toBe(false)
    expect((await statusOf(moved)).json()).toMatchObject({ pid: up.json().pid })
    expect((await cli.run(['down'], { env: { REPRISE_HOME: moved } })).stdout).toContain('Stopped')
  })
})
