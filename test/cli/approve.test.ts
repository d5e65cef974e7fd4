/** `reprise runs approve`: whoever approves sees all of it first, and approves nothing else. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Approval, Escalation } from '../../src/contract/escalation.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
const decided: Approval[] = []

beforeAll(async () => {
  cli = await createCliDouble()
})
afterAll(() => cli.close())

function waiting(): Escalation {
  const { id } = cli.engine.addRun()
  const signal = {
    status: 'down' as const,
    summary: `${'all is harmless. '.repeat(500)}\nand \u202erm x`,
    checks: [],
    services: [],
    actions: [{ action: 'delete the database', outcome: 'proposed' as const }],
    escalate: true,
    reason: '',
  }
  const escalation: Escalation = {
    runId: id,
    tier: 1,
    decision: 'ask',
    reason: 'approval-needed',
    message: 'tier 2 needs approval',
    toTier: 2,
    nextRunId: null,
    recommendation: { source: 'structured', escalate: true, signal, problem: null },
    decidedBy: 'rules',
    decidedAt: new Date().toISOString(),
    expiresAt: null,
    askHash: 'abc',
  }
  const { getRun } = cli.engine
  cli.engine.getRun = async (asked) => ({
    ...(await getRun(asked)),
    ...(asked === id ? { escalation } : {}),
  })
  cli.engine.decideApproval = async (_, approval) => {
    decided.push(approval)
    return { ...escalation, decision: 'escalate', nextRunId: id, askHash: null }
  }
  return escalation
}

test('shows the whole of it before, and approves what was shown', async () => {
  const { runId } = waiting()
  const { code, stdout, stderr } = await cli.run(['runs', 'approve', runId, '--message', 'fine'])
  expect([code, stdout]).toEqual([0, `tier 2 starts as ${runId}\n`])
  expect(stderr).toContain(
    `${runId}  waiting for approval of tier 2\n  tier 2 needs approval\n  down: all is harmless.`,
  )
  expect(stderr).toMatch(/\n {2}and \\u\{202e\}rm x\n {4}proposed: delete the database\n$/)
  expect(decided.splice(0)).toEqual([{ decision: 'approve', message: 'fine', askHash: 'abc' }])
})

test('for scripts it is bound as well; a refusal needs nothing', async () => {
  const { runId } = waiting()
  const { stderr, json } = await cli.run(['runs', 'approve', runId, '--json'])
  expect([stderr, json()]).toEqual(['', expect.objectContaining({ decision: 'escalate' })])
  expect((await cli.run(['runs', 'refuse', runId])).stderr).toBe('')
  expect(decided.splice(0)).toEqual([{ decision: 'approve', askHash: 'abc' }, { decision: 'refuse' }])
})

test('approvals are paged like other lists', async () => {
  const all = [waiting(), waiting(), waiting()]
  cli.engine.listApprovals = async () => all
  const first = await cli.run(['runs', 'approvals', '--limit', '2'])
  expect(first.stdout).toContain(all[1]?.runId)
  expect(first.stdout).not.toContain(all[2]?.runId)
  expect(first.stderr).toBe(`More: reprise runs approvals --cursor ${all[1]?.runId}\n`)
  const rest = await cli.run(['runs', 'approvals', '--cursor', `${all[1]?.runId}`, '--json'])
  expect(rest.json()).toMatchObject({ items: [{ runId: all[2]?.runId }], nextCursor: null })
  expect((await cli.run(['runs', 'approvals', '--cursor', 'run_gone'])).code).toBe(2)
})
