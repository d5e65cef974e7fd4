/** `reprise followups`, and where else follow-ups are shown. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { instant } from '../../src/cli/commands/followups.ts'
import { fateOf } from '../../src/cli/follow-ups/text.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import { RunId } from '../../src/contract/ids.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
beforeAll(async () => {
  cli = await createCliDouble()
})
afterAll(() => cli.close())
beforeEach(() => {
  cli.engine.askedOfWatches.splice(0)
})

const followUps = (...args: string[]) => cli.run(['followups', ...args])
const asked = () => cli.engine.askedOfWatches.at(-1)?.with
const runId = RunId.create(new Date())
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000 + 500).toISOString()

test('listed, narrowed down, with a word when there are none', async () => {
  expect((await followUps()).stderr).toContain('reprise followups add')
  const planned = cli.engine.addFollowUp({ runId, dueAt: inMinutes(10) })
  cli.engine.addFollowUp({ runId, state: 'missed', createdBy: 'person' })
  const { stdout } = await followUps()
  expect(stdout).toMatch(/^ID +STATE +DUE +BY +RUN +PROMPT\n/)
  expect(stdout).toMatch(/^fup_\w+ +planned +in 10m +agent +run_\w+ +Look again\.$/m)
  expect(stdout).toMatch(/^fup_\w+ +missed +.* person +run_\w+ +Look again\.$/m)
  const { items } = (await followUps('--state', 'planned', '--run', runId, '--json')).json<{
    items: FollowUp[]
  }>()
  expect(items.map(({ id }) => id)).toEqual([planned.id])
  const other = RunId.create(new Date())
  expect((await followUps('list', '--run', other)).stderr).toBe('Nothing matches.\n')
  expect((await followUps('--state', 'fired')).stderr).toBe('No follow-ups in state fired.\n')
  expect((await followUps('list', '--run', runId, '--limit', '1')).stderr).toBe(
    `More: reprise followups list --run ${runId} --cursor more\n`,
  )
})

test.each<[string[], object]>([
  [['--run', runId, '--in', '10m'], { runId, inMs: 600_000 }],
  [['--run', runId, '--at', '2027-01-01T07:00:00+01:00'], { runId, at: '2027-01-01T06:00:00.000Z' }],
  [
    ['--run', runId, '--cron', '0 7 * * *', '--time-zone', 'UTC', '--recurring'],
    { runId, cron: '0 7 * * *', timeZone: 'UTC', recurring: true },
  ],
])('add %j', async (args, expected) => {
  const { code, stdout } = await followUps('add', ...args, 'Still', 'up?')
  expect(code).toBe(0)
  expect(asked()).toEqual({ prompt: 'Still up?', ...expected })
  expect(stdout).toMatch(/^fup_\w+ planned for .* \(in \d+m( \d+s)?\)\n$/)
})

test("add to a session, by our id or the agent's own, with the prompt from stdin", async () => {
  const { id, agentSessionId } = cli.engine.session
  for (const session of [id, agentSessionId]) {
    const { code } = await cli.run(['followups', 'add', '--session', session, '--in', '1h'], {
      stdin: 'Look.',
    })
    expect(code).toBe(0)
    expect(asked()).toEqual({ prompt: 'Look.', sessionId: id, inMs: 3_600_000 })
  }
})

describe('wrong usage', () => {
  test.each([
    [['add', '--in', '10m', 'x'], 'expected either --run or --session'],
    [
      [
        'add',
        '--run',
        'run_01M7P4M9A578QN3YY0VCX470DV',
        '--session',
        'ses_01M7P4M9A578QN3YY0VCX470DV',
        '--in',
        '1m',
        'x',
      ],
      'expected either --run or --session',
    ],
    [
      ['add', '--run', 'run_01M7P4M9A578QN3YY0VCX470DV', 'x'],
      'expected exactly one of --in, --at and --cron',
    ],
    [
      ['add', '--run', 'run_01M7P4M9A578QN3YY0VCX470DV', '--in', '1m', '--cron', '* * * * *', 'x'],
      'expected exactly one of --in, --at',
    ],
    [['add', '--run', 'run_01M7P4M9A578QN3YY0VCX470DV', '--in', 'soon', 'x'], 'expected a duration'],
    [
      ['add', '--run', 'run_01M7P4M9A578QN3YY0VCX470DV', '--at', 'tomorrow', 'x'],
      'expected a time such as 2027-01-01T07:00',
    ],
    [
      ['add', '--run', 'run_01M7P4M9A578QN3YY0VCX470DV', '--at', '2027-13-01T07:00', 'x'],
      'expected a time such as',
    ],
    [
      ['add', '--run', 'run_01M7P4M9A578QN3YY0VCX470DV', '--in', '1m', '--recurring', 'x'],
      'can only be used with --cron',
    ],
    [['add', '--run', 'job_1', '--in', '1m', 'x'], 'expected an id such as run_01J…'],
    [['add', '--run', 'run_01M7P4M9A578QN3YY0VCX470DV', '--in', '1m', ''], 'the prompt is empty'],
    [['show', 'run_1'], 'expected an id such as fup_01J…'],
    [['--state', 'due'], 'Allowed choices are planned, fired, missed, cancelled.'],
    [['cancel', 'fup_01M7P4M9A578QN3YY0VCX470DV'], 'unknown command "followups cancel"'],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await followUps(...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(cli.engine.askedOfWatches).toEqual([])
  })
})

test('a time without an offset is the time here', () => {
  expect(instant('2027-01-01 07:00')).toBe(new Date(2027, 0, 1, 7).toISOString())
  expect(instant('2027-01-01T07:00:30Z')).toBe('2027-01-01T07:00:30.000Z')
})

test('shown and cancelled, once', async () => {
  const { id } = cli.engine.addFollowUp({ runId, reason: 'to be sure', tier: 2, dueAt: inMinutes(3) })
  const { stdout } = await followUps('show', id)
  expect(stdout).toMatch(/^state +planned for .* \(in 3m\)$/m)
  expect(stdout).toMatch(/^created by +the agent, /m)
  expect(stdout).toMatch(/^reason +to be sure$/m)
  expect(stdout).not.toContain('session')
  expect((await followUps('rm', id)).stdout).toBe(`cancelled ${id}\n`)
  expect((await followUps('rm', id)).code).toBe(1)
  expect((await followUps('show', id, '--json')).json()).toMatchObject({ id, state: 'cancelled' })
})

test('what became of it, in words', () => {
  const now = new Date(2027, 0, 1, 7)
  const at = now.toISOString()
  const of = (change: Partial<FollowUp>) => fateOf(cli.engine.addFollowUp({ dueAt: at, ...change }), now)
  expect(of({ dueAt: new Date(2027, 0, 1, 7, 10).toISOString() })).toBe('planned for 07:10:00 (in 10m)')
  expect(of({ recurring: true, cron: '0 7 * * *', firedCount: 1 })).toBe(
    'planned for 07:00:00 (now), recurring (0 7 * * *), fired 1 time',
  )
  expect(of({ state: 'fired', firedAt: at, firedRunId: 'run_X' })).toBe('fired 07:00:00 in run_X')
  expect(of({ state: 'missed', message: 'the session is gone' })).toBe(
    'missed, was due 07:00:00 (the session is gone)',
  )
  expect(of({ state: 'cancelled', cancelledBy: 'agent' })).toBe('cancelled by the agent')
})

describe('elsewhere', () => {
  test('a run lists its own, and which one it came from', async () => {
    const followUp = cli.engine.addFollowUp({ createdBy: 'person', dueAt: inMinutes(4) })
    const { id } = cli.engine.addRun({ followUps: [followUp], followUpId: 'fup_Y', cycleId: 'cyc_Z' })
    const { stdout } = await cli.run(['runs', 'show', id])
    expect(stdout).toMatch(/^cycle +cyc_Z$/m)
    expect(stdout).toMatch(/^cause +follow-up fup_Y$/m)
    expect(stdout).toMatch(
      /^follow-up +fup_\w+ planned for .* \(in 4m\), created by a person: Look again\.$/m,
    )
  })

  test('its events say what was planned', async () => {
    const { id } = cli.engine.addRun()
    cli.engine.emit(id, {
      type: 'follow-up',
      toolUseId: 't',
      action: 'planned',
      followUpId: 'fup_X',
      dueAt: new Date(2027, 0, 1, 7).toISOString(),
      message: 'Scheduled: once.',
    })
    cli.engine.emit(id, { type: 'follow-up', toolUseId: 't', action: 'listed', message: 'None.' })
    const { stdout } = await cli.run(['runs', 'events', id])
    expect(stdout).toContain('planned fup_X due 2027-01-01 07:00:00: Scheduled: once.')
    expect(stdout).toContain('listed: None.')
  })
})
