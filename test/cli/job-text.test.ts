import { describe, expect, test } from 'vitest'
import { describeJob } from '../../src/cli/jobs/detail.ts'
import { jobRows } from '../../src/cli/jobs/table.ts'
import { budgetText, explainState, jobStateOf, whatNext } from '../../src/cli/jobs/text.ts'
import { formatTime } from '../../src/cli/terminal/time.ts'
import type { JobDetail } from '../../src/contract/job.ts'
import { createJobDoubles } from '../server/job-doubles.ts'

const { addJob } = createJobDoubles((change) => ({ id: change.jobId }) as never)
const job = (change: Partial<JobDetail>) => addJob({ id: 'job_X', ...change })

describe('a state', () => {
  const soon = new Date()
  test.each<[Partial<JobDetail>, string, string]>([
    [{ state: 'queued' }, 'queued', 'queued, starts as soon as possible'],
    [{ state: 'running' }, 'running', 'running, the agent is working'],
    [{ state: 'running', attention: 'question' }, 'asks you', 'asks you'],
    [
      { state: 'waiting', waitingUntil: soon.toISOString(), message: 'rate limit: slow down' },
      `waiting (${formatTime(soon.toISOString())})`,
      `waiting (${formatTime(soon.toISOString())}), continues automatically at ${formatTime(soon.toISOString())}: rate limit: slow down`,
    ],
    [{ state: 'completed', message: 'completed' }, 'completed', 'completed'],
    [
      { state: 'failed', outcome: 'crashed', message: 'killed' },
      'failed (crashed)',
      'failed (crashed), not continued: killed',
    ],
    [{ state: 'cancelled', message: 'cancelled' }, 'cancelled', 'cancelled'],
  ])('%j', (change, short, long) => {
    expect(jobStateOf(job(change))).toBe(short)
    expect(explainState(job(change))).toBe(long)
    expect(jobRows([job(change)], soon).rows[0]?.[1]).toBe(short)
  })

  test('a time of another day has its date', () => {
    const at = new Date(2026, 0, 2, 3, 4, 5)
    expect(formatTime(at.toISOString(), at)).toBe('03:04:05')
    expect(formatTime(at.toISOString(), new Date(2026, 0, 1))).toBe('2026-01-02 03:04:05')
  })
})

describe('what to do', () => {
  const paused = (change: Partial<JobDetail>) => whatNext(job({ state: 'paused', ...change }))
  const spent = (usd: number) => ({ usd, tokens: 0, followUpRuns: 0 })
  test('about a budget: twice as much of what ran out', () => {
    expect(paused({ attention: 'budget', maxBudgetUsd: 0.15, spent: spent(0.2) })).toEqual({
      needs: 'more budget',
      commands: ['reprise jobs raise job_X --budget-usd 0.4'],
    })
    const both = { attention: 'budget', maxBudgetUsd: 1, maxBudgetTokens: 500 } as const
    expect(paused({ ...both, spent: spent(0.1) }).commands).toEqual([
      'reprise jobs raise job_X --budget-tokens 1000',
    ])
    expect(paused({ ...both, spent: spent(1) }).commands).toEqual(['reprise jobs raise job_X --budget-usd 2'])
  })

  test.each(['turn-limit', 'question', 'auth', 'work-dir'] as const)(
    'about %s: something, then a retry',
    (attention) => {
      const { needs, commands } = paused({ attention })
      expect(needs).not.toBeNull()
      expect(commands.at(-1)).toBe('reprise jobs retry job_X')
    },
  )

  test('about one that has ended, and nothing about one at work', () => {
    expect(whatNext(job({ state: 'failed' })).commands).toEqual(['reprise jobs retry job_X'])
    expect(whatNext(job({ state: 'failed', outcome: 'context-overflow' }))).toEqual({
      needs: expect.stringContaining('a shorter prompt'),
      commands: [],
    })
    expect(whatNext(job({ state: 'cancelled' })).commands).toEqual(['reprise jobs retry job_X'])
    expect(whatNext(job({ state: 'completed', session: 'ses_X' })).commands).toEqual([
      'reprise run --session ses_X "…"',
    ])
    for (const state of ['queued', 'running'] as const) expect(whatNext(job({ state })).commands).toEqual([])
  })
})

test('the page of a job has all there is', () => {
  const now = new Date()
  const at = now.toISOString()
  const lines = describeJob(
    job({
      state: 'running',
      model: 'haiku',
      session: 'ses_X',
      sessionId: 'abc',
      sessionSavedAt: '2026-01-01T00:00:00.000Z',
      resumeCount: 1,
      timeoutMs: 60_000,
      checkpointPolicy: { everyMs: 300_000, onChange: 'continue' },
      progress: {
        modelCalls: 2,
        toolCalls: 1,
        tokens: 1200,
        costUsd: 0.5,
        elapsedMs: 65_000,
        lastActivityAt: at,
        tool: 'Bash',
      },
      maxBudgetUsd: 2,
      maxBudgetTokens: 5000,
      maxTurns: 8,
      maxTurnsTotal: 80,
      attempts: [
        {
          resumed: false,
          freshReason: 'first-run',
          outcome: { name: 'crashed', message: 'killed' },
          state: 'ended',
        },
        { resumed: true, freshReason: null, outcome: null, state: 'running', pid: 4711 },
      ] as JobDetail['attempts'],
      checkpoints: [
        {
          number: 1,
          kind: 'start',
          ref: 'refs/reprise/x/1',
          commit: 'f'.repeat(40),
          head: null,
          attemptId: null,
          session: null,
          createdAt: at,
        },
      ],
      archived: [{ sessionId: 'abc', bytes: 2048, path: '/archive/abc.jsonl' }],
      pending: [
        {
          toolUseId: 'toolu_1',
          askHash: 'h',
          kind: 'permission',
          askedAt: at,
          tool: 'Bash',
          input: { command: 'ls' },
        },
      ],
      resultText: 'So far.',
    }),
    now,
  )
  expect(lines).toEqual(
    expect.arrayContaining([
      'agent       claude (haiku)',
      `session     ses_X (abc), saved ${formatTime('2026-01-01T00:00:00.000Z', now)}, resumed 1 time`,
      'progress    2 model calls, 1 tool call, 1.2k tokens, 1m 5s, last activity 0s ago, running Bash',
      'spent       $0.5000 of $2.00, 1.2k of 5.0k tokens',
      'limits      timeout 1m per attempt, 8 turns per attempt, then continues, up to 80 turns in total, up to 5 resumes, priority 0',
      'checkpoints after each attempt and every 5m; if others change the work tree: continue',
      'attempt 1  new session; crashed: killed',
      'attempt 2  resumed session; running (keeper process 4711)',
      `checkpoint 1  start ffffffffffff ${formatTime(at, now)} refs/reprise/x/1`,
      'transcript of abc, 2 KiB: /archive/abc.jsonl',
      'asks       allow Bash\n             command: ls',
      'So far.',
    ]),
  )
})

test('what follow-ups have spent of its budget is shown, and apart from it what the job itself has', () => {
  const spent = { usd: 1.5, tokens: 3400, followUpRuns: 2 }
  const progress = { ...job({}).progress, tokens: 1200, costUsd: 0.5 }
  expect(budgetText(job({ maxBudgetUsd: 2, spent, progress }))).toBe(
    '$1.50 of $2.00, 3.4k tokens, including 2 follow-up runs; without them $0.5000, 1.2k tokens',
  )
})
