/** `reprise run` and `reprise jobs` with a real daemon and a real agent, which talks to a scripted model. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CliContext } from '../../src/cli/base/context.ts'
import { runCli } from '../../src/cli/program.ts'
import type { Page } from '../../src/contract/http.ts'
import type { Job, JobDetail } from '../../src/contract/job.ts'
import { readVersion } from '../../src/library/version.ts'
import type { ScenarioInput } from '../../src/simulator/scenario-types.ts'
import { createJob, jobEnds, jobIs } from '../support/jobs.ts'
import { until, World } from '../support/world.ts'
import { type Cli, createCli } from './cli.ts'
import { createScreen } from './screen.ts'

const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })

const scenario = ({ mended }: { mended: boolean }): ScenarioInput => ({
  models: { haiku: { contextWindow: 10_000_000 } },
  rules: [
    // A gate of its own: whether a retried job stops at the other one depends on what its session already has.
    { when: /^HOLD again/, reply: [{ text: 'Thinking.' }, { hold: 'again' }, { text: ' Went on.' }] },
    { when: /^HOLD/, reply: [{ text: 'Thinking.' }, { hold: 'gate' }, { text: ' Went on.' }] },
    { when: /^LIMIT$/, reply: [{ rateLimit: { resetsIn: '2h', times: 1 } }, 'never'] },
    { when: /^LATER$/, reply: [{ rateLimit: { resetsIn: '2h', times: 1 } }, 'never'] },
    { when: /BREAK$/, reply: mended ? 'Mended.' : [{ error: { status: 400, message: 'no such thing' } }] },
    {
      when: /^SPEND$/,
      reply: [bash('echo one'), { await: 'results' }, bash('echo two'), { await: 'results' }, 'Spent.'],
    },
    {
      when: /^WRITE$/,
      reply: [bash('echo new > made; echo more >> kept'), { await: 'results' }, 'Written.'],
    },
    { when: 'You were interrupted', reply: 'Finished.' },
    { when: 'MUCH', reply: 'All of it.' },
    { reply: 'You said: ${user}' },
  ],
})

let world: World
let cli: Cli
beforeAll(async () => {
  world = await World.create(scenario({ mended: false }), {
    jobs: { perWorkDir: 4 },
    // Its own limit, for what it takes to be the model's window.
    agents: { claude: { model: 'haiku', env: { CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: '100000000' } } },
  })
  // The CLI tells when a limit resets only to those who have a subscription; without that, a job waits its backoff.
  delete world.env.ANTHROPIC_API_KEY
  world.env.CLAUDE_CODE_OAUTH_TOKEN = 'made-up'
  await world.startDaemon()
  cli = createCli(world.env)
})
afterAll(async () => {
  await cli.close()
  await world.close()
})

const run = (...args: string[]) => cli.inside(['run', '--cwd', world.workDir, ...args])
const jobs = (...args: string[]) => cli.inside(['jobs', ...args])
const newest = async () => (await world.api<Page<Job>>('GET', '/api/jobs?limit=1')).items[0]!
const detail = async (id: string) => (await jobs('show', id, '--json')).json<JobDetail>()
const lastLine = (stdout: string) =>
  JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Job & { type: string }

describe('run', () => {
  test('--detach prints the id and nothing else on stdout; --json the job', async () => {
    // As processes of their own; the other tests run commands in this process.
    const own = (...args: string[]) => cli.run(['run', '--cwd', world.workDir, '--detach', ...args])
    const { code, stdout, stderr } = await own('hello')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^job_\w{26}\n$/)])
    expect(stderr).toContain(`reprise attach ${stdout.trim()}`)
    const asJson = (await own('--json', '--priority', '-7', 'hello')).json<Job>()
    expect(asJson).toMatchObject({ priority: -7, prompt: 'hello' })
    const listed = (await jobs('--json', '--limit', '1')).json<Page<Job>>()
    expect(listed.items.map(({ id }) => id)).toEqual([asJson.id])
    expect(await jobEnds(world, asJson.id)).toMatchObject({ state: 'completed' })
  })

  test('a rate limit is waited for, and said once', async () => {
    const running = cli.start(['run', '--cwd', world.workDir, 'LIMIT'])
    await running.says('waiting until')
    // The limit would hold for hours: one that is over soon might be over before the wait is said.
    await world.api('POST', `/api/jobs/${(await newest()).id}/retry`, {})
    const { code, stdout, stderr } = await running.result
    expect([code, stdout]).toEqual([0, 'Finished.\n'])
    expect(
      stderr.match(/waiting until .*\d\d:\d\d:\d\d \(rate limit\), then continues automatically/g),
    ).toHaveLength(1)
    expect(stderr).toContain('completed · ')
    expect(stderr).toContain('2 attempts')
  })

  test('a prompt of 5 MB from stdin reaches the model whole', async () => {
    const prompt = `MUCH ${'0123456789abcde\n'.repeat((5 * 1024 * 1024) / 16)}the end`
    const { code, stdout } = await cli.run(['run', '--cwd', world.workDir], { stdin: prompt })
    expect([code, stdout]).toEqual([0, 'All of it.\n'])
    const got = world.simulator.requests().findLast((request) => request.userText?.startsWith('MUCH'))
    expect(got?.userText === prompt).toBe(true)
    const { prompt: listed } = await newest()
    expect(listed.length).toBeLessThan(1000)
  })

  test.each([
    [['--timeout', '0s'], '--timeout 0s: must be between 1s and 24d'],
    [['--timeout', '900d'], '--timeout 900d: must be between 1s and 24d'],
    [['--max-resumes', '101'], '--max-resumes 101: must be between 0 and 100'],
    [['--max-turns', '0'], '--max-turns 0: must be between 1 and 10000'],
    [['--max-budget-usd', '1e308'], '--max-budget-usd 1e308: must be an amount above 0 and up to 1000000'],
    [['--max-budget-tokens', '0'], '--max-budget-tokens 0: must be between 1 and'],
    [['--priority', '-101'], '--priority -101: must be between -100 and 100'],
    [['--checkpoint-every', '1ms'], '--checkpoint-every 1ms: must be between 1s and 1d'],
    [['--webhook', 'ftp://x'], 'webhook: expected an http or https address'],
  ])('absurd limits exit with 2: %j', async (options, expected) => {
    const before = await newest()
    const { code, stdout, stderr } = await run(...options, 'x')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(expected)
    expect((await newest()).id).toBe(before.id)
  })

  test('on a terminal a line beneath says how far it is, and is gone at the end', async () => {
    const screen = createScreen(100)
    const context: CliContext = {
      env: { ...world.env, TERM: 'xterm' },
      cwd: world.workDir,
      version: readVersion(),
      entry: '',
      stdin: process.stdin,
      stdout: screen.stream(),
      stderr: screen.stream(),
      json: false,
      exitCode: 0,
      interrupt: () => {},
      outputFailed: () => {},
    }
    const code = runCli(['run', 'HOLD it'], context)
    await world.simulator.waitForHold('gate')
    // The model's words and the line come in any order.
    const says = (text: string) => screen.rows().some((row) => row.includes(text))
    await until(() => says('Thinking.') && says('1 turn · 0 tool calls'), 'words and line')
    expect(screen.rows()).toEqual(['Thinking.', expect.stringMatching(/^1 turn · 0 tool calls · .* tokens/)])
    world.simulator.release('gate')
    expect(await code).toBe(0)
    expect(screen.rows()).toEqual([
      'Thinking.',
      ' Went on.',
      expect.stringContaining('completed · new session'),
      expect.stringMatching(/^continue with: reprise run --session ses_/),
    ])
  })
})

describe('a job that needs somebody', () => {
  test('is paused when its budget is used up, and says how to go on', async () => {
    const options = ['--permissions', 'allow', '--max-budget-tokens', '100']
    const { code, stderr } = await run(...options, 'SPEND')
    expect(code).toBe(1)
    const { id } = await newest()
    expect(stderr).toContain('paused (budget)')
    expect(stderr).toContain('needs: more budget')
    // More than was used already: it must make a difference.
    const raise = new RegExp(`continue with: reprise jobs raise ${id} --budget-tokens (\\d+)`).exec(stderr)
    expect(Number(raise?.[1])).toBeGreaterThan(13_000)

    const { stdout: shown } = await jobs('show', id)
    expect(shown).toMatch(/^state {7}paused \(budget\), needs you: its budget is used up$/m)
    expect(shown).toMatch(/^needs {7}more budget/m)
    expect(shown).toMatch(/^session {5}ses_\w+ \([-\w]+\), saved [\d: -]+, resumed 0 times$/m)
    expect(shown).toMatch(/^spent {7}.* of 100 tokens$/m)
    expect(shown).toMatch(/^attempt 1 {2}new session; budget: /m)
    expect((await jobs('list', '--state', 'paused')).stdout).toContain(id)
    expect((await cli.inside(['status'])).stdout).toContain(
      '1 job needs you: reprise jobs list --state paused',
    )
  })

  test('goes on when its budget is raised; its logs are those of both runs', async () => {
    const { id } = (await jobs('--state', 'paused', '--json')).json<Page<Job>>().items[0]!
    expect((await jobs('raise', id, '--budget-tokens', '101')).stdout).toContain('paused (budget)')
    const raised = await jobs('raise', id, '--budget-tokens', 'none', '--priority', '5')
    expect([raised.code, raised.stdout]).toEqual([0, 'Finished.\n'])
    expect(raised.stderr).toContain('completed · resumed session · 2 attempts')
    expect(await detail(id)).toMatchObject({ state: 'completed', maxBudgetTokens: null, priority: 5 })

    const read = await jobs('logs', id)
    expect(read.stdout.match(/^Finished\.$/gm)).toHaveLength(1)
    expect(read.stderr).toMatch(/^continued in run_\w+$/m)
    expect(read.stderr).toMatch(/^job_\w{6} completed$/m)
    const logs = await jobs('logs', '--raw', id)
    expect(logs.stdout.match(/^run_\w+$/gm)).toHaveLength(2)
    expect(logs.stdout.match(/run-end/g)).toHaveLength(2)
    const followed = (await jobs('logs', '--follow', id, '--json')).stdout.trimEnd().split('\n')
    const ends = followed.map((line) => JSON.parse(line)).filter(({ type }) => type === 'run-end')
    expect(ends.map(({ runId }) => runId)).toEqual((await detail(id)).runIds)
  })

  test('has failed: is retried, in its session or a fresh one', async () => {
    const failed = await run('BREAK')
    const { id } = await newest()
    expect([failed.code, failed.stdout]).toEqual([1, ''])
    expect(failed.stderr).toContain('failed (api-error)')
    expect(failed.stderr).toContain(`continue with: reprise jobs retry ${id}`)

    world.simulator.setScenario(scenario({ mended: true }))
    const { code, stdout } = await jobs('retry', '--fresh', '--json', id)
    expect(code).toBe(0)
    expect(lastLine(stdout)).toMatchObject({ type: 'job', id, state: 'completed', resultText: 'Mended.' })
    expect((await detail(id)).attempts.map(({ resumed }) => resumed)).toEqual([false, false])

    const again = await jobs('retry', id)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('has completed')])
    expect(again.stderr).toContain('hint: ')
  })

  test('waits: starts now when it is told to, and shows only what is new', async () => {
    const { id } = await createJob(world, { prompt: 'LATER' })
    await jobIs(world, id, ({ state }) => state === 'waiting')
    expect((await jobs()).stdout).toMatch(new RegExp(`^${id} {2}waiting \\(.*\\d\\d:\\d\\d:\\d\\d\\)`, 'm'))
    const { code, stdout, stderr } = await jobs('retry', id)
    expect([code, stdout], stderr).toEqual([0, 'Finished.\n'])
    expect(stderr).toContain('attempt 2: ')
    expect(stderr).not.toContain('attempt 1')
  })
})

describe('a job at work', () => {
  test('cannot be retried; is listed, followed and cancelled; retried in the background', async () => {
    const { id } = await createJob(world, { prompt: 'HOLD on' })
    await world.simulator.waitForHold('gate')
    const refused = await jobs('retry', id, '--json')
    expect([refused.code, refused.json()]).toMatchObject([1, { error: { code: 'conflict' } }])
    const logs = cli.start(['jobs', 'logs', '-f', id])
    await logs.says('Thinking.')
    expect((await jobs('list', '--state', 'running')).stdout).toContain(`${id}  running`)
    expect((await jobs('cancel', '--wait', id)).stdout).toBe(`${id} cancelled\n`)
    expect(await logs.result).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^job_\w{6} cancelled$/m),
    })
    expect((await jobs('cancel', id)).code).toBe(1)

    const retried = await jobs('retry', '--detach', '--json', id)
    expect([retried.code, retried.json()]).toMatchObject([0, { id }])
    world.simulator.release('gate')
    expect(await jobEnds(world, id)).toMatchObject({ state: 'completed' })
  })

  test('Ctrl-C cancels the job and exits with 130', async () => {
    const running = cli.start(['run', '--cwd', world.workDir, 'HOLD again'])
    await running.says('Thinking.')
    running.kill('SIGINT')
    const { code, stderr } = await running.result
    expect(code).toBe(130)
    expect(stderr).toContain('cancelled')
    const { id, ...job } = await newest()
    expect(job).toMatchObject({ state: 'cancelled', outcome: 'cancelled' })
    expect(stderr).toContain(`continue with: reprise jobs retry ${id}`)
  })
})

describe('checkpoints', () => {
  const git = (dir: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: dir })

  const work = () => join(world.dir, 'repository')

  test('are listed and compared', async () => {
    const dir = work()
    mkdirSync(dir)
    git(dir, 'init', '-q')
    writeFileSync(join(dir, 'kept'), 'first\n')
    git(dir, 'add', '.')
    git(dir, 'commit', '-qm', 'start')
    const options = [
      '--cwd',
      dir,
      '--permissions',
      'allow',
      '--checkpoint-every',
      '1m',
      '--on-change',
      'stop',
    ]
    const { code } = await cli.inside(['run', ...options, 'WRITE'])
    expect(code).toBe(0)
    const { id } = await newest()
    const { checkpoints, checkpointPolicy } = await detail(id)
    expect(checkpointPolicy).toEqual({ everyMs: 60_000, onChange: 'stop' })
    expect(checkpoints.map(({ number, kind }) => [number, kind])).toEqual([
      [1, 'start'],
      [2, 'agent'],
    ])
    const { stdout: shown } = await jobs('show', id)
    expect(shown).toMatch(
      /^checkpoints after each attempt and every 1m; if others change the work tree: stop$/m,
    )
    expect(shown).toMatch(/^checkpoint 2 {2}agent [0-9a-f]{12} [\d: -]+ refs\/reprise\//m)

    expect((await jobs('diff', id, '--stat')).stdout).toBe('modified\tkept\nadded\tmade\n')
    const patch = (await jobs('diff', id, '1', '2')).stdout
    expect(patch).toContain('+more')
    expect((await jobs('diff', id, '1', '2', '--json')).json()).toMatchObject({ from: 1, to: 2, patch })
    expect(await jobs('diff', id, '2')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('Nothing changed from checkpoint 2 to the work tree'),
    })
  })

  test('are restored, and what was there is kept', async () => {
    const dir = work()
    const { id } = await newest()
    writeFileSync(join(dir, 'kept'), 'mine\n')
    const restored = await jobs('restore', id, '1')
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining(`restore ${id} 3`)])
    expect(existsSync(join(dir, 'made'))).toBe(false)
    expect(readFileSync(join(dir, 'kept'), 'utf8')).toBe('first\n')
    expect((await jobs('restore', id, '3', '--json')).json()).toMatchObject({ restored: 3 })
    expect(readFileSync(join(dir, 'kept'), 'utf8')).toBe('mine\n')
    expect((await jobs('restore', id, '99')).code).toBe(1)
    expect((await jobs('diff', id, '99')).code).toBe(1)
  })

  test('outside a repository they are refused, and so is the job', async () => {
    const before = await newest()
    for (const option of [['--checkpoints'], ['--on-change', 'restore']]) {
      const refused = await run(...option, '--json', 'hello')
      expect([refused.code, refused.json()]).toMatchObject([1, { error: { code: 'work-dir-unusable' } }])
      expect(refused.stdout).toContain('git')
    }
    expect((await newest()).id).toBe(before.id)
    expect((await run('--no-checkpoints', 'hello')).code).toBe(0)
    expect((await jobs('diff', (await newest()).id)).code).toBe(1)
  })
})

test("the agent's own transcript is printed as it is, and is in the archive", async () => {
  expect((await run('remember heliotrope')).code).toBe(0)
  const { id, sessionId } = await newest()
  const { code, stdout } = await jobs('transcript', id)
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).type)).toContain('assistant')
  expect(stdout).toContain('remember heliotrope')
  const [kept] = (await jobIs(world, id, ({ archived }) => archived.length > 0)).archived
  expect(kept).toMatchObject({ sessionId, bytes: expect.any(Number) })
  expect((await jobs('show', id)).stdout).toContain(`transcript of ${sessionId}, `)
  expect((await jobs('transcript', id, '--json')).stdout).toBe(stdout)
})

describe('refusals', () => {
  const unknown = 'job_01J00000000000000000000000'
  test.each([
    [['show', unknown]],
    [['logs', unknown]],
    [['retry', unknown]],
    [['raise', unknown, '--priority', '1']],
    [['cancel', unknown]],
    [['diff', unknown]],
    [['restore', unknown, '1']],
    [['transcript', unknown]],
  ])('%j: there is none', async (args) => {
    const { code, stdout, stderr } = await jobs(...args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`there is no job ${unknown}`)
  })
})
