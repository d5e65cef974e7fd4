/** What an agent reads when it uses its own scheduling tools, and what is stored. */
import { describe, expect, it } from 'vitest'
import type { EventOf } from '../../src/contract/events.ts'
import type { SchedulingCall } from '../../src/core/schedule/call.ts'
import { answerSchedulingCall } from '../../src/engine/follow-ups/agent-calls.ts'
import type { RunRecord } from '../../src/store/runs/records.ts'
import { admitted, at } from '../store/records.ts'
import { HOUR, MINUTE, Stage, type StageOptions } from './stage.ts'

let calls = 0
const ask = (toolUseId = `call-${++calls}`): EventOf<'permission-ask'> => ({
  type: 'permission-ask',
  requestId: `request-${toolUseId}`,
  toolUseId,
  tool: 'CronCreate',
  input: { cron: 'x' },
  via: 'hook',
})

const create = (inMs: number, prompt = 'verify it'): SchedulingCall => ({
  kind: 'create',
  prompt,
  reason: 'let it start',
  when: { inMs },
})

/** A run at tier 1, in a cycle of an hour, or outside of any; and a function by which it asks. */
async function asking(options: StageOptions & { plain?: boolean } = {}) {
  const stage = await Stage.set(options)
  const begin = async (plain = options.plain) => {
    if (plain) return admitted(stage.store)
    const name = `watch-${++calls}`
    await stage.watch({ name, maxDurationMs: HOUR })
    await stage.watches.triggerWatch(name, {})
    await stage.quiet()
    return (await stage.openRuns()).at(-1) as RunRecord
  }
  const run = await begin()
  const say = async (call: SchedulingCall, event = ask(), as = run) => {
    const attempt = await stage.attemptOf(as)
    return answerSchedulingCall(stage.parts, { run: await stage.run(as.id), attempt }, event, call)
  }
  const stored = async () => (await stage.store.listFollowUps({ limit: 99 })).items.toReversed()
  return { stage, run, begin, say, stored }
}

describe('asked for a follow-up', () => {
  it('says that it is planned, for when, and that this is not an error', async () => {
    const { stage, run, say, stored } = await asking()
    const { message, planned, event } = await say(create(10 * MINUTE))
    const [followUp] = await stored()
    expect(planned).toBe(true)
    expect(message).toContain('This is no error')
    expect(message).toContain(`Follow-up ${followUp?.id} is planned for 2026-03-01T12:10:00.000Z (in 10m).`)
    expect(message).toContain('end your turn')
    expect(event).toMatchObject({ type: 'follow-up', action: 'planned', followUpId: followUp?.id })
    expect(followUp).toMatchObject({
      state: 'planned',
      prompt: 'verify it',
      reason: 'let it start',
      createdBy: 'agent',
      runId: run.id,
      rootRunId: run.id,
      cycleId: run.links.cycleId,
      tier: 1,
      relative: true,
      sessionId: (await stage.run(run.id)).sessionId,
    })
  })

  it('says until when a recurring one continues', async () => {
    const { say, stored } = await asking()
    const when = { cron: '*/15 * * * *', recurring: true }
    const { message } = await say({ kind: 'create', prompt: 'look again', reason: null, when })
    expect(message).toContain('next at 2026-03-01T12:15:00.000Z (in 15m), until 2026-03-01T13:00:00.000Z')
    expect(await stored()).toMatchObject([{ recurring: true, relative: false, expiresAt: at(3600) }])
  })

  it('by the same call again, also by another daemon and later, plans nothing more and answers the same', async () => {
    const { stage, say, stored } = await asking()
    const event = ask()
    const first = await say(create(10 * MINUTE), event)
    await stage.restart()
    const again = await say(create(10 * MINUTE), event)
    expect(again).toEqual(first)
    await stage.pass(30 * MINUTE)
    expect((await say(create(10 * MINUTE), event)).event).toEqual(first.event)
    expect(await stored()).toHaveLength(1)
    await say(create(10 * MINUTE))
    expect(await stored()).toHaveLength(2)
  })

  it('beyond the end of the cycle refuses, with the reason', async () => {
    const { stage, say, stored } = await asking()
    await stage.pass(50 * MINUTE)
    const { message, planned, event } = await say(create(10 * MINUTE))
    expect(message).toBe(
      'The cycle ends at 2026-03-01T13:00:00Z; nothing can be scheduled after that. It is 2026-03-01T12:50:00Z.',
    )
    expect(planned).toBe(false)
    expect(event).toMatchObject({ type: 'refusal', rule: 'follow-up', reason: message, what: '{"cron":"x"}' })
    expect(await stored()).toEqual([])
  })

  it('too often refuses, until one has ended', async () => {
    const { say, stored } = await asking({ followUps: { maxPending: 2 } })
    await say(create(MINUTE))
    await say(create(2 * MINUTE))
    expect((await say(create(3 * MINUTE))).message).toBe(
      '2 follow-ups are pending, and at most 2 are allowed. Delete one that is not needed, or wait until one has fired.',
    )
    await say({ kind: 'delete', id: (await stored())[0]!.id })
    expect(await say(create(3 * MINUTE))).toMatchObject({ planned: true })
  })

  it('that cannot be understood says what is wrong', async () => {
    const { say } = await asking()
    const answer = await say({ kind: 'unclear', problem: 'cron: expected five fields' })
    expect(answer).toMatchObject({ message: 'cron: expected five fields', event: { type: 'refusal' } })
    const cron = { cron: '61 * * * *', recurring: false }
    const { message } = await say({ kind: 'create', prompt: 'x', reason: null, when: cron })
    expect(message).toContain('The cron expression "61 * * * *" has "61" in field 1, the minute')
  })
})

describe.each([
  ['of a chain', false],
  ['of a plain run', true],
])('an agent %s', (_, plain) => {
  it('sees what it has planned, and nothing else', async () => {
    const { say, begin, stored } = await asking({ plain })
    expect((await say({ kind: 'list' })).message).toContain('Nothing is planned.')
    await say(create(20 * MINUTE, 'later'))
    await say(create(10 * MINUTE, 'sooner'))
    const other = await begin()
    await say(create(MINUTE, 'of another'), ask(), other)
    const { message, event } = await say({ kind: 'list' })
    expect(message).not.toContain('of another')
    expect(message.indexOf('"sooner"')).toBeLessThan(message.indexOf('"later"'))
    expect(message).toContain(`- Follow-up ${(await stored())[1]?.id} is planned for`)
    expect(event).toMatchObject({ type: 'follow-up', action: 'listed' })
  })

  it('deletes its own, and a repeated call gets the same answer', async () => {
    const { stage, say, stored } = await asking({ plain })
    await say(create(10 * MINUTE))
    const { id } = (await stored())[0]!
    const event = ask()
    const first = await say({ kind: 'delete', id }, event)
    expect(first.message).toContain(`Follow-up ${id} is deleted.`)
    expect(first.event).toMatchObject({ type: 'follow-up', action: 'cancelled', followUpId: id })
    expect(await stored()).toMatchObject([{ state: 'cancelled', cancelledBy: 'agent' }])
    await stage.restart()
    expect(await say({ kind: 'delete', id }, event)).toEqual(first)
  })

  it('deletes none of another, planned or deleted, and none that does not exist', async () => {
    const { say, begin, stored } = await asking({ plain })
    const other = await begin()
    await say(create(10 * MINUTE), ask(), other)
    const { id } = (await stored())[0]!
    const refused = { message: `There is no planned follow-up "${id}".`, event: { type: 'refusal' } }
    expect(await say({ kind: 'delete', id })).toMatchObject(refused)
    expect(await stored()).toMatchObject([{ state: 'planned' }])
    await say({ kind: 'delete', id }, ask(), other)
    expect(await say({ kind: 'delete', id })).toMatchObject(refused)
    expect((await say({ kind: 'delete', id: 'job-7' })).message).toBe(
      'There is no planned follow-up "job-7".',
    )
  })

  it('cannot delete what a person has cancelled', async () => {
    const { stage, say, stored } = await asking({ plain })
    await say(create(10 * MINUTE))
    const { id } = (await stored())[0]!
    await stage.followUps.cancelFollowUp(id)
    expect(await say({ kind: 'delete', id })).toMatchObject({ event: { type: 'refusal' } })
    expect(await stored()).toMatchObject([{ cancelledBy: 'person' }])
  })
})

it('a run of the next tier sees and deletes what the previous one planned', async () => {
  const { stage, run, say, stored } = await asking()
  await say(create(30 * MINUTE))
  await stage.settle(run, { asks: true, status: 'down' })
  await stage.approvals.answer(run.id, { decision: 'approve' })
  await stage.quiet()
  const next = await stage.openRun()
  const { id } = (await stored())[0]!
  expect((await say({ kind: 'list' }, ask(), next)).message).toContain(id)
  await say({ kind: 'delete', id }, ask(), next)
  expect(await stored()).toMatchObject([{ state: 'cancelled' }])
})
