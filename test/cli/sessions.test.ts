/** `reprise sessions`: what is asked of the daemon, and what people are shown. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdoptSessions, FoundSession } from '../../src/contract/adopt.ts'
import { ConversationId, SessionId } from '../../src/contract/ids.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
beforeAll(async () => {
  cli = await createCliDouble()
})
afterAll(() => cli.close())

const sessions = (...args: string[]) => cli.run(['sessions', ...args])

test('list filters by status, agent and directory', async () => {
  const asked: object[] = []
  const { listSessions } = cli.engine
  cli.engine.listSessions = async (query) => {
    asked.push(query)
    return listSessions(query)
  }
  const { stdout, code } = await sessions('--status', 'paused', '--agent', 'claude', '--dir', '.')
  expect(code).toBe(0)
  expect(stdout).toContain(cli.engine.session.id)
  expect(asked).toMatchObject([{ status: 'paused', agent: 'claude', workDir: cli.workDir }])
  expect(await sessions('--status', 'asleep')).toMatchObject({ code: 2, stdout: '' })
})

test('show has state, tokens, stop reason, files, runs with their context, and follow-ups', async () => {
  const { session } = cli.engine
  const followUp = cli.engine.addFollowUp({ prompt: 'check again' })
  Object.assign(session, {
    stopReason: 'end_turn',
    usage: { inputTokens: 1000, outputTokens: 20, cacheReadTokens: 500, cacheWriteTokens: 0 },
    files: [{ path: '/tmp/x.jsonl', bytes: 2048 }],
    followUps: [followUp],
    runs: [
      {
        id: 'run_1',
        prompt: 'first question\nmore',
        state: 'settled',
        outcome: 'completed',
        jobId: null,
        conversationId: null,
        contextTokens: 1500,
        contextWindow: 10_000,
        costUsd: 0.5,
        createdAt: session.createdAt,
        endedAt: null,
      },
    ],
  })
  const { stdout } = await sessions('show', session.id)
  expect(stdout).toMatch(/^state {6}active since /m)
  expect(stdout).toMatch(/^stopped {4}end_turn$/m)
  expect(stdout).toMatch(/^tokens {5}1\.5k in, 20 out$/m)
  expect(stdout).toMatch(/^files {6}1, 2 KiB$/m)
  expect(stdout).toMatch(/^run_1 +completed .*1\.5k \(15 %\).*first question/m)
  expect(stdout).toContain('check again')
})

describe('adopt', () => {
  const found = (change: Partial<FoundSession> = {}): FoundSession => ({
    agent: 'claude',
    agentSessionId: '3f0c1e52-5f5e-4c1f-9a56-0a4c2f3f8a11',
    state: 'adoptable',
    message: null,
    firstPrompt: 'fix the build\nplease',
    workDir: '/srv/project',
    path: '/x.jsonl',
    bytes: 4096,
    startedAt: null,
    modifiedAt: new Date(Date.now() - 2 * 86_400_000).toISOString(),
    pid: null,
    session: null,
    conversationId: null,
    turns: null,
    ...change,
  })
  const other = (n: number) => `3f0c1e52-5f5e-4c1f-9a56-${String(n).padStart(12, '0')}`

  test('without a choice it lists, page by page, and adopts nothing', async () => {
    cli.engine.listAdoptable = async ({ cursor }) =>
      cursor === undefined
        ? { items: [found()], nextCursor: 'more' }
        : { items: [found({ agentSessionId: other(2), state: 'live', pid: 77 })], nextCursor: null }
    cli.engine.adoptSessions = async () => {
      throw new Error('nobody asked for it')
    }
    const { code, stdout, stderr } = await sessions('adopt')
    expect(code).toBe(0)
    expect(stdout).toMatch(/adoptable +2d +4 KiB +\/srv\/project +fix the build please$/m)
    expect(stdout).toMatch(/live \(pid 77\)/)
    expect(stderr).toContain('reprise sessions adopt ID')
    expect((await sessions('adopt', '--all', '--dry-run', '--json')).json()).toMatchObject({
      items: [{ state: 'adoptable' }, { state: 'live' }],
    })
  })

  test('adopts all in small pieces, and says what was left alone', async () => {
    const items = Array.from({ length: 45 }, (_, n) => found({ agentSessionId: other(n) }))
    items.push(found({ agentSessionId: other(99), state: 'unusable', message: 'nothing was said in it' }))
    cli.engine.listAdoptable = async () => ({ items, nextCursor: null })
    const asked: AdoptSessions[] = []
    cli.engine.adoptSessions = async (request) => {
      asked.push(request)
      const made = {
        session: SessionId.create(new Date()),
        conversationId: ConversationId.create(new Date()),
      }
      return (request.ids ?? []).map((id) =>
        found({ agentSessionId: id, state: 'adopted', turns: 3, ...made }),
      )
    }
    const { code, stdout, stderr } = await sessions('adopt', '--all', '--agent', 'claude')
    expect(code).toBe(0)
    expect(asked.map(({ ids, agent }) => [ids?.length, agent])).toEqual([
      [20, 'claude'],
      [20, 'claude'],
      [5, 'claude'],
    ])
    expect(stdout).toMatch(/adopted as ses_\w+, 3 turns imported; continue with: reprise chat cnv_/)
    expect(stdout).toContain('not adopted: nothing was said in it')
    expect(stderr).toContain('45 sessions adopted, 1 left alone')
  })

  test('a named session that is not adopted is a failure; one that is known is not', async () => {
    const report = (change: Partial<FoundSession>) => {
      cli.engine.adoptSessions = async () => [found(change)]
      return sessions('adopt', other(1))
    }
    expect(await report({ state: 'live', pid: 7, message: 'process 7 has it open' })).toMatchObject({
      code: 1,
    })
    const known = await report({ state: 'known', message: 'known', session: SessionId.create(new Date()) })
    expect(known.code).toBe(0)
    expect(known.stdout).toMatch(/skipped: known; continue with: reprise run --session ses_/)
  })

  test.each([
    [['../../etc/passwd'], 'is not the id of a session'],
    [[other(1), '--all'], 'expected one of: ids, --all, --dir'],
    [['--dir', '.', '--all'], 'expected one of: ids, --all, --dir'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await sessions('adopt', ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
