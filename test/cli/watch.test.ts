/** `reprise watch`: what is asked of the daemon, and what is said. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChainRun } from '../../src/contract/chain.ts'
import type { CycleDetail } from '../../src/contract/cycle.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import { NO_USAGE } from '../../src/contract/outcome.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
beforeAll(async () => {
  cli = await createCliDouble()
})
afterAll(() => cli.close())
beforeEach(() => {
  cli.engine.askedOfWatches.splice(0)
})

const watch = (...args: string[]) => cli.run(['watch', ...args])
const asked = () => cli.engine.askedOfWatches.at(-1)
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000 + 500).toISOString()

test('the list says when each is due and how it went last', async () => {
  const other = await createCliDouble()
  try {
    const none = await other.run(['watch'])
    expect([none.code, none.stdout]).toEqual([0, ''])
    expect(none.stderr).toContain('reprise watch add NAME')
    other.engine.addWatch({
      name: 'media',
      nextAt: inMinutes(12),
      lastCycle: other.engine.addCycle({
        state: 'ended',
        outcome: 'completed',
        status: 'degraded',
        costUsd: 0.5,
      }),
    })
    other.engine.addWatch({ name: 'by-hand', schedule: null, state: 'paused', nextAt: inMinutes(1) })
    const { stdout, code } = await other.run(['watch'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^NAME +STATE +SCHEDULE +NEXT +LAST +AGE +COST +PROMPT\n/)
    expect(stdout).toMatch(/^media +active +every 30 min +in 12m +degraded +0s +\$0\.5000 +Look\.$/m)
    expect(stdout).toMatch(/^by-hand +paused +when triggered +– +– /m)
    const asJson = (await other.run(['watch', '--json'])).json<{ items: { name: string }[] }>()
    expect(asJson.items.map(({ name }) => name)).toEqual(['media', 'by-hand'])
  } finally {
    await other.close()
  }
})

describe('edit', () => {
  test('only what was given is changed', async () => {
    cli.engine.addWatch({ name: 'edited' })
    const { code, stdout } = await watch('edit', 'edited', '--every', '5m', '--no-dry-run')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^changed edited: .*; next cycle: /)])
    expect(asked()).toMatchObject({ call: 'update', with: { everyMs: 300_000, dryRun: false } })
    expect(Object.keys(asked()?.with as object).sort()).toEqual(['dryRun', 'everyMs'])
    await watch('edit', 'edited', '--cwd', 'sub', 'Look', 'elsewhere')
    expect(asked()?.with).toEqual({ prompt: 'Look elsewhere', workDir: join(cli.workDir, 'sub') })
  })

  test('nothing to change', async () => {
    const { code, stderr } = await watch('edit', 'edited')
    expect([code, stderr]).toEqual([2, expect.stringContaining('nothing to change')])
    expect(await watch('edit', 'edited', '--every', '5m', '--cron', '@daily')).toMatchObject({ code: 2 })
  })
})

describe('add', () => {
  test('only what was said', async () => {
    const { code, stdout, stderr } = await watch('add', 'one', '--every', '30m', 'Look', 'there')
    expect(code).toBe(0)
    expect(asked()).toEqual({
      call: 'create',
      with: { name: 'one', prompt: 'Look there', workDir: cli.workDir, everyMs: 1_800_000 },
    })
    expect(stdout).toBe('added one: every 30 min; next cycle: –\n')
    expect(stderr).toContain('reprise watch trigger --follow one')
  })

  test('everything', async () => {
    writeFileSync(join(cli.workDir, 'about.md'), 'A nas.')
    const options = {
      '--cron': '0 7 * * 1-5',
      '--time-zone': 'Europe/Berlin',
      '--jitter': '90s',
      '--every-while-not-healthy': '5m',
      '--cwd': 'sub',
      '--agent': 'claude',
      '--memory': 'persistent',
      '--overlap': 'queue',
      '--max-tier': '2',
      '--environment': 'about.md',
      '--max-duration': '1h',
      '--budget': '2.5',
      '--hook-secret': 'sixteen-or-more-characters',
      '--events-per-hour': '6',
      '--dedupe': '1d',
      '--renew-after': '7d',
      '--renew-after-cycles': '50',
      '--webhook': 'http://127.0.0.1:9/x',
      '--notify-from': 'problem',
    }
    const notify = ['--notify', 'phone', '--notify', 'mail']
    const args = ['--dry-run', '--paused', ...Object.entries(options).flat(), ...notify]
    const { code, json } = await cli.run(['watch', 'add', '--json', ...args, 'two'], { stdin: 'From stdin.' })
    expect(code).toBe(0)
    expect(json()).toMatchObject({ name: 'two', hasHookSecret: true })
    expect(asked()?.with).toEqual({
      name: 'two',
      prompt: 'From stdin.',
      workDir: join(cli.workDir, 'sub'),
      cron: '0 7 * * 1-5',
      timeZone: 'Europe/Berlin',
      jitterMs: 90_000,
      everyWhileNotHealthyMs: 300_000,
      agent: 'claude',
      memory: 'persistent',
      overlap: 'queue',
      maxTier: 2,
      dryRun: true,
      environment: 'A nas.',
      maxDurationMs: 3_600_000,
      maxBudgetUsd: 2.5,
      hookSecret: 'sixteen-or-more-characters',
      eventsPerHour: 6,
      dedupeMs: 86_400_000,
      renewAfterMs: 7 * 86_400_000,
      renewAfterCycles: 50,
      notify: ['phone', 'mail'],
      webhook: 'http://127.0.0.1:9/x',
      notifyFrom: 'problem',
      paused: true,
    })
  })

  test("the daemon's refusal is told", async () => {
    await watch('add', 'twice', 'x')
    const { code, stderr } = await watch('add', 'twice', 'x')
    expect([code, stderr]).toEqual([1, 'error: there is a watch twice already\n'])
  })
})

describe('wrong usage exits with 2, says why, and asks nothing', () => {
  test.each([
    [['add'], "missing required argument 'name'"],
    [['add', 'Media', 'x'], 'expected up to 63 lower-case letters, digits and . _ -'],
    [['add', 'a', '--every', 'often', 'x'], 'expected a duration such as 90s, 30m or 2h'],
    [['add', 'a', '--every', '1m', '--cron', '* * * * *', 'x'], 'expected --every or --cron, not both'],
    [['add', 'a', '--every', '1m', '--time-zone', 'UTC', 'x'], '--time-zone can only be used with --cron'],
    [['add', 'a', '--memory', 'none', 'x'], 'Allowed choices are fresh, persistent.'],
    [['add', 'a', '--overlap', 'both', 'x'], 'Allowed choices are skip, queue.'],
    [['add', 'a', '--budget', '0', 'x'], 'must be an amount above 0'],
    [['add', 'a', '--hook-secret', 'short', 'x'], 'expected 16 to 255 visible ASCII characters'],
    [['add', 'a', '--environment', 'nowhere.md', 'x'], 'cannot read the file with the environment: ENOENT'],
    [['add', 'a', ' '], 'the prompt is empty'],
    [['show', '../x'], 'expected an id such as wch_01J…, a part of one, or last, or the name of a watch'],
    [['trigger', 'RUN_1'], 'or the name of a watch'],
    [['trigger', 'media', '--payload', 'nowhere.json'], 'cannot read the payload: ENOENT'],
    [['trigger', 'media', '--payload', '-'], 'the payload on stdin is not JSON'],
    [['cycle', 'run_1'], 'expected an id such as cyc_01J…'],
    [['cancel'], "missing required argument 'id'"],
    [['remove', 'x'], 'unknown command "watch remove"'],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await watch(...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect((await watch(...args, '--json')).json()).toMatchObject({ error: { code: 'usage' } })
    expect(cli.engine.askedOfWatches).toEqual([])
  })
})

test('show: the definition, when it is due, and the last cycles', async () => {
  const { id, name } = cli.engine.addWatch({
    name: 'shown',
    source: 'config',
    memory: 'persistent',
    renewAfterMs: 7 * 86_400_000,
    jitterMs: 60_000,
    maxTier: 2,
    maxBudgetUsd: 3,
    hookSecret: 'sixteen-or-more-characters',
    eventsPerHour: 6,
    notify: ['phone'],
    nextAt: inMinutes(75),
  })
  cli.engine.addCycle({
    watchId: id,
    state: 'ended',
    outcome: 'completed',
    status: 'fixed',
    tier: 2,
    costUsd: 0.25,
    summary: 'Restarted it.',
  })
  cli.engine.addCycle({ watchId: id, state: 'skipped', message: 'the one before was open' })
  const { stdout, code } = await watch('show', name)
  expect(code).toBe(0)
  for (const line of [
    /^watch +shown \(wch_\w+\)$/m,
    /^state +active; defined in the configuration$/m,
    /^schedule +every 30 min, plus a random delay of up to 1m$/m,
    /^next +.*\d\d:\d\d:\d\d \(in 1h 15m\)$/m,
    /^memory +persistent; new session after 7d$/m,
    /^limits +up to tier 2, \$3\.00 per cycle$/m,
    /^events +POST \/api\/hooks\/shown, with its hook secret; up to 6 cycles per hour$/m,
    /^notifies +phone$/m,
    /^cyc_\w+ +completed +fixed +2 +schedule +0s +– +\$0\.2500 +Restarted it\.$/m,
    /^cyc_\w+ +skipped +– +– +schedule .* the one before was open$/m,
  ]) {
    expect(stdout).toMatch(line)
  }
  expect((await watch('show', name, '--json')).json()).toMatchObject({ id, lastCycles: [{}, {}] })
  const cycles = await watch('cycles', name, '--limit', '1')
  expect(cycles.stdout.split('\n')).toHaveLength(3)
  expect(cycles.stderr).toBe('More: reprise watch cycles shown --cursor more\n')
  expect((await watch('show', 'nothing')).code).toBe(1)
})

describe('a cycle', () => {
  const ended = (change: Partial<CycleDetail> = {}): CycleDetail => {
    const run = cli.engine.addRun({ tier: 1, outcome: 'completed' })
    cli.engine.settle(run.id)
    const later = cli.engine.addRun({ tier: 1, followUpId: 'fup_X', outcome: 'completed' })
    cli.engine.settle(later.id)
    const signal = {
      status: 'fixed' as const,
      summary: 'It was down, and is up.',
      checks: [],
      services: [],
      actions: [{ action: 'docker restart jellyfin', outcome: 'done' as const }],
      escalate: false,
      reason: '',
    }
    const escalation = {
      runId: later.id,
      tier: 1,
      decision: 'stop' as const,
      reason: 'not-recommended' as const,
      message: 'nothing more is to be done',
      toTier: null,
      nextRunId: null,
      recommendation: { source: 'structured' as const, escalate: false, signal, problem: null },
      decidedBy: 'rules' as const,
      decidedAt: new Date().toISOString(),
      expiresAt: null,
      askHash: null,
    }
    const settled = { state: 'settled' as const, outcome: 'completed' as const, refused: [] }
    const runs: ChainRun[] = [
      { ...run, ...settled, escalation: null },
      { ...later, ...settled, escalation },
    ]
    return cli.engine.addCycle({
      state: 'ended',
      outcome: 'completed',
      status: 'fixed',
      summary: signal.summary,
      runs: 2,
      costUsd: 0.3,
      startedAt: new Date().toISOString(),
      endedAt: new Date().toISOString(),
      number: 22,
      events: [{ fingerprint: 'a', title: 'Down', receivedAt: new Date().toISOString(), payload: {} }],
      chain: {
        rootRunId: run.id,
        state: 'ended',
        runs,
        totals: {
          runs: 2,
          usage: NO_USAGE,
          costUsd: 0.3,
          costEstimated: false,
          durationMs: 1000,
          refusals: 0,
        },
      },
      followUps: [
        cli.engine.addFollowUp({ state: 'fired', firedAt: new Date().toISOString(), firedRunId: later.id }),
      ],
      ...change,
    })
  }

  test('is shown with its runs, events and follow-ups', async () => {
    const cycle = ended()
    const { stdout } = await watch('cycle', cycle.id)
    expect(stdout).toContain(`${cycle.id}, number 22 of media\n`)
    expect(stdout).toMatch(/^status +fixed: It was down, and is up\.$/m)
    expect(stdout).toMatch(/^cost +\$0\.3000, 2 runs$/m)
    expect(stdout).toMatch(/^event +.*Down$/m)
    expect(stdout).toMatch(/^follow-up +fup_\w+ fired .* in run_\w+, created by the agent: Look again\.$/m)
    expect(stdout).toMatch(/^└── run_\w+ +tier 1 .*completed, follow-up$/m)
    expect((await watch('cycle', cycle.id, '--json')).json()).toMatchObject({ id: cycle.id })
  })

  test.each<[string, Partial<CycleDetail>, number]>([
    ['fixed', {}, 0],
    ['healthy', { status: 'healthy' }, 0],
    ['degraded', { status: 'degraded' }, 1],
    ['without a report', { status: null }, 1],
    ['failed', { outcome: 'failed' }, 1],
    ['cancelled', { outcome: 'cancelled', status: 'healthy' }, 1],
  ])('that is %s, followed', async (_, change, expected) => {
    const { id } = ended(change)
    const { name } = cli.engine.addWatch()
    cli.engine.answerTriggers({ result: 'started', cycleId: id, message: 'A cycle begins.' })
    const { code, stdout, stderr } = await watch('trigger', name, '--follow')
    expect(code).toBe(expected)
    expect(stdout).toBe('fixed: It was down, and is up.\n  done: docker restart jellyfin\n')
    expect(stderr).toContain('A cycle begins.\n')
    expect(stderr.match(/^→ run_\w+, tier 1$/gm)).toHaveLength(2)
  })

  test('followed as JSON: what it came to, the events of its runs, the cycle', async () => {
    const { id } = ended()
    cli.engine.answerTriggers({ result: 'started', cycleId: id, message: 'A cycle begins.' })
    const { code, stderr, lines } = await watch('trigger', cli.engine.addWatch().name, '--follow', '--json')
    expect([code, stderr]).toEqual([0, ''])
    expect(lines().map(({ type }) => type)).toEqual(['triggered', 'run-end', 'run-end', 'cycle'])
  })

  test('whose events another agent has read: that cycle is followed instead', async () => {
    const other = ended()
    const message = 'the agent of cycle 1 was told what this one was for'
    const { id } = cli.engine.addCycle({ state: 'skipped', takenBy: other.id, message })
    cli.engine.answerTriggers({ result: 'queued', cycleId: id, message: 'It waits.' })
    const { code, stdout, stderr } = await watch('trigger', cli.engine.addWatch().name, '--follow')
    expect(code).toBe(0)
    expect(stdout).not.toBe('')
    expect(stderr).toContain(`${message}\n`)
    expect(stderr).toContain(`cycle      ${other.id}, number`)
  })

  test('is waited for while no run is at work', async () => {
    const due = inMinutes(10)
    const { id, ...rest } = ended({ state: 'waiting', outcome: null, followUps: [] })
    const planned = cli.engine.addFollowUp({ dueAt: due, prompt: 'Still up?\nLook.' })
    cli.engine.addCycle({ ...rest, id, followUps: [planned] })
    cli.engine.answerTriggers({ result: 'merged', cycleId: id, message: 'It is taken along.' })
    const following = watch('trigger', cli.engine.addWatch().name, '--follow')
    const look = cli.engine.getCycle
    let looks = 0
    cli.engine.getCycle = async (asked) => {
      if (++looks === 4) cli.engine.addCycle({ ...rest, id, state: 'ended', outcome: 'completed' })
      return look(asked)
    }
    const { code, stderr } = await following
    cli.engine.getCycle = look
    expect(code).toBe(0)
    expect(stderr.match(/^waiting for a follow-up at .*: Still up\? Look\.$/gm)).toHaveLength(1)
  })
})

describe('trigger', () => {
  test('prints the id of the cycle and nothing else on stdout', async () => {
    const { name } = cli.engine.addWatch()
    const { id } = cli.engine.addCycle()
    cli.engine.answerTriggers({ result: 'queued', cycleId: id, message: 'It waits.' })
    const { code, stdout, stderr } = await watch('trigger', name, '--reason', 'why')
    expect([code, stdout]).toEqual([0, `${id}\n`])
    expect(stderr).toContain('It waits.\n')
    expect(asked()).toEqual({ call: 'trigger', of: name, with: { reason: 'why' } })
    expect((await watch('trigger', name, '--json')).json()).toEqual({
      result: 'queued',
      cycleId: id,
      message: 'It waits.',
    })
  })

  test('with a payload from a file or stdin', async () => {
    const { name } = cli.engine.addWatch()
    writeFileSync(join(cli.workDir, 'alert.json'), '{"a":[1]}')
    await watch('trigger', name, '--payload', 'alert.json')
    expect(asked()?.with).toEqual({ payload: { a: [1] } })
    await cli.run(['watch', 'trigger', name, '--payload', '-'], { stdin: '"x"' })
    expect(asked()?.with).toEqual({ payload: 'x' })
  })

  test('that comes to nothing, is too much, or for nobody', async () => {
    const { name } = cli.engine.addWatch()
    cli.engine.answerTriggers({ result: 'known', cycleId: null, message: 'It is known.' })
    const known = await watch('trigger', name, '--follow')
    expect([known.code, known.stdout, known.stderr]).toEqual([0, '', 'It is known.\n'])
    cli.engine.answerTriggers(new RepriseError('rate-limited', 'too many', { hint: 'Wait.' }))
    expect(await watch('trigger', name)).toMatchObject({ code: 1, stderr: 'error: too many\nhint: Wait.\n' })
    expect((await watch('trigger', 'nobody')).code).toBe(1)
  })
})

test('pause, resume, cancel, rm', async () => {
  const { name } = cli.engine.addWatch({ name: 'to-change', nextAt: inMinutes(5) })
  expect((await watch('pause', name)).stdout).toBe('to-change is paused\n')
  expect((await watch('resume', name)).stdout).toMatch(/^to-change is active; next cycle: .* \(in 5m\)\n$/)
  expect((await watch('pause', name, '--json')).json()).toMatchObject({ name, state: 'paused' })
  const { id } = cli.engine.addCycle()
  expect((await watch('cancel', id)).stdout).toBe(`${id} cancelled\n`)
  expect((await watch('cancel', id)).code).toBe(1)
  expect((await watch('rm', name)).stdout).toBe('removed to-change\n')
  expect((await watch('rm', name)).code).toBe(1)
})

test('status mentions watches and approvals, if there are any', async () => {
  const other = await createCliDouble()
  try {
    const quiet = (await other.run(['status'])).stdout
    expect(quiet).not.toMatch(/^(watches|approvals)/m)
    other.engine.addWatch({ name: 'later', nextAt: inMinutes(90) })
    other.engine.addWatch({ name: 'sooner', nextAt: inMinutes(9) })
    other.engine.addWatch({ name: 'by-hand', nextAt: null })
    other.engine.addWatch({ state: 'paused', nextAt: inMinutes(1) })
    other.engine.listApprovals = async () => [{} as never]
    const { stdout } = await other.run(['status'])
    expect(stdout).toMatch(/^watches +3 active, 1 paused; next: sooner at .* \(in 9m\)$/m)
    expect(stdout).toMatch(/^approvals 1 tier waiting for your approval: reprise runs approvals$/m)
    expect((await other.run(['status', '--json'])).json()).toMatchObject({
      watches: [{ name: 'later' }, {}, {}, {}],
      approvals: [{}],
    })
  } finally {
    await other.close()
  }
})
