/** What an agent plans with its own tools is stored by Reprise and given to its session once, on the real CLI. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import type { EventOf } from '../../src/contract/events.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import type { Run, RunDetail } from '../../src/contract/run.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Chat } from '../support/chat.ts'
import { bash, FIXED, Incident, report, results } from '../support/incident.ts'
import { transcriptHas, transcriptOf } from '../support/transcripts.ts'
import { until } from '../support/world.ts'

let incident: Incident
afterEach(() => incident.close())

const wakeUp = (delaySeconds: number, prompt = 'verify that web answers') => ({
  tool: 'ScheduleWakeup',
  input: { delaySeconds, reason: 'let it start', prompt },
})
const calm = { status: 'degraded', escalate: false, reason: 'restarted; to be verified' } as const

const plans = (...calls: object[]): RuleInput => ({
  when: { user: 'restart web' },
  reply: [
    bash('docker restart web'),
    results,
    ...calls.flatMap((call) => [call as never, results]),
    report(calm),
    results,
    { text: 'planned' },
  ],
})
const verifies: RuleInput = {
  when: { user: 'verify that web answers' },
  reply: [bash('docker ps'), results, report(FIXED), results, { text: 'verified' }],
}

const NO_HOLD = { followUps: { hold: '0ms' } }
const begin = () => incident.investigate({ prompt: 'restart web', tier: 2 })
const verifications = () => incident.prompts().filter(({ text }) => text.includes('verify that web answers'))

describe('a follow-up', () => {
  it('is given to the session by a new run, at the same tier, when its run has ended', async () => {
    incident = await Incident.begin([plans(wakeUp(3)), verifies], NO_HOLD)
    const { id } = await begin()
    const chain = await until(async () => {
      const found = await incident.chain(id)
      return found.state === 'ended' ? found : null
    }, 'the chain to end')
    expect(chain.runs.map((run) => [run.tier, run.outcome, run.resumed, run.escalation?.reason])).toEqual([
      [2, 'completed', false, 'not-recommended'],
      [2, 'completed', true, 'not-recommended'],
    ])
    expect(new Set(chain.runs.map((run) => run.sessionId)).size).toBe(1)
    expect(incident.docker).toEqual(['restart web', 'ps'])
    expect(verifications()).toHaveLength(1)
    const run = await incident.world.api<RunDetail>('GET', `/api/runs/${id}`)
    expect(run.followUps).toMatchObject([
      { state: 'fired', createdBy: 'agent', firedCount: 1, firedRunId: chain.runs[1]?.id },
    ])
  })

  it('that is due soon is waited for in the process', async () => {
    incident = await Incident.begin([plans(wakeUp(3)), verifies])
    const { id } = await begin()
    const chain = await incident.rested(id)
    expect(chain.runs.map((run) => [run.tier, run.outcome, run.attemptCount])).toEqual([[2, 'completed', 1]])
    expect(chain.state).toBe('ended')
    expect(incident.docker).toEqual(['restart web', 'ps'])
    expect(verifications()).toHaveLength(1)
    const run = await incident.world.api<RunDetail>('GET', `/api/runs/${id}`)
    expect(run.followUps).toMatchObject([{ state: 'fired', firedCount: 1, firedRunId: id }])
    expect(run.escalation?.recommendation.signal?.status).toBe('fixed')
    expect(incident.world.processes()).toEqual([])
  })
})

/** Resolves when the prompt has been asked that often, and nothing runs any more. */
async function asked(text: string, times: number): Promise<void> {
  await until(() => said(text).length >= times, `"${text}" to be asked`)
  await until(async () => {
    const { items } = await incident.world.api<{ items: Run[] }>('GET', '/api/runs')
    return items.every((run) => run.state === 'settled')
  }, 'all runs to settle')
  expect(said(text)).toHaveLength(times)
}
/** Every time the model was asked this as a new prompt. */
const said = (text: string) =>
  incident.world.simulator.requests().filter((request) => request.userText?.includes(text))
const followUps = async (query = '') =>
  (await incident.world.api<{ items: FollowUp[] }>('GET', `/api/followups${query}`)).items

describe('an agent', () => {
  it('sees what it has planned, and people can delete it', async () => {
    const looks: RuleInput = {
      when: { user: 'restart web' },
      reply: [
        wakeUp(600) as never,
        results,
        { tool: 'CronCreate', input: { cron: '*/5 * * * *', prompt: 'look again' } },
        results,
        { tool: 'CronList', input: {} },
        results,
        { hold: 'gate' },
        report(FIXED),
        results,
        { text: 'ok' },
      ],
    }
    incident = await Incident.begin([looks])
    const run = await begin()
    // The model is asked before everything that led to it is stored.
    const { toolUseId } = (await incident.world.waitForEvent(
      run.id,
      (event) => event.type === 'tool-start' && event.name === 'CronList',
    )) as EventOf<'tool-start'>
    const listing = (await incident.world.waitForEvent(
      run.id,
      (event) => event.type === 'tool-end' && event.toolUseId === toolUseId,
    )) as EventOf<'tool-end'>
    await incident.world.simulator.waitForHold('gate')
    const planned = await followUps('?state=planned')
    expect(planned).toMatchObject([
      { prompt: 'look again', recurring: true, cron: '*/5 * * * *' },
      { prompt: 'verify that web answers', recurring: false, reason: 'let it start' },
    ])
    const listed = JSON.stringify(listing.content)
    for (const followUp of planned) {
      expect(listed).toContain(followUp.id)
      expect(listed).toContain(followUp.prompt)
    }
    const { id } = planned[0]!
    await incident.world.api('DELETE', `/api/followups/${id}`)
    const again = await incident.world.request('DELETE', `/api/followups/${id}`)
    expect(again.status).toBe(409)
    await incident.world.api('DELETE', `/api/followups/${planned[1]!.id}`)
    incident.world.simulator.release('gate')
    expect(await incident.rested(run.id)).toMatchObject({ state: 'ended' })
    const { followUps: ended } = await incident.world.api<RunDetail>('GET', `/api/runs/${run.id}`)
    expect(ended).toMatchObject([
      { state: 'cancelled', cancelledBy: 'person' },
      { state: 'cancelled', cancelledBy: 'person' },
    ])
  })

  it.each([
    ['goes on with it, and is not asked again', true],
    ['is asked again and told what it did, if its transcript lacks the follow-up', false],
  ])('that dies while it answers a follow-up %s', async (_, recorded) => {
    const slow: RuleInput = {
      when: { user: 'verify that web answers' },
      reply: [bash('docker ps'), results, { hold: 'gate' }, report(FIXED), results, { text: 'verified' }],
    }
    const goesOn: RuleInput = {
      when: { user: 'You were interrupted' },
      reply: [report(FIXED), results, { text: 'verified' }],
    }
    incident = await Incident.begin([goesOn, plans(wakeUp(2)), slow])
    const { id } = await begin()
    const { world } = incident
    await world.simulator.waitForHold('gate')
    const transcript = await transcriptHas(world, id, '"docker: ps"')
    await world.killDaemon()
    const isAgent = ({ command }: { command: string }) =>
      /claude.* -p /.test(command) && !/keeper/.test(command)
    process.kill(world.processes().find(isAgent)!.pid, 'SIGKILL')
    await until(() => !world.processes().some(isAgent), 'the agent to be gone')
    if (!recorded) {
      // The state in which the CLI was killed before it had written anything of the follow-up.
      const whole = readFileSync(transcript, 'utf8')
      const before = whole.slice(0, whole.indexOf('is due now'))
      writeFileSync(transcript, before.slice(0, before.lastIndexOf('\n') + 1))
    }
    await world.startDaemon()
    const chain = await incident.rested(id)
    world.simulator.release('gate')
    const last = incident.prompts().at(-1)?.text ?? ''
    expect(last).toContain('You were interrupted')
    expect(last).toMatch(/docker ps.*: done/)
    expect(last.includes('is due now')).toBe(!recorded)
    expect(chain.runs.map((run) => [run.outcome, run.attemptCount])).toEqual([['completed', 2]])
    expect(chain.runs[0]?.escalation?.recommendation.signal?.status).toBe('fixed')
    expect(incident.docker).toEqual(['restart web', 'ps'])
    expect(await followUps()).toMatchObject([{ state: 'fired', firedCount: 1 }])
  })
})

describe('without a tier', () => {
  const remind: RuleInput = {
    when: '/^remind me$/',
    reply: [wakeUp(2, 'here is your reminder') as never, results, { text: 'I will' }],
  }
  const echo: RuleInput = { reply: 'You said: ${user}' }

  it('a run’s follow-up continues in its session', async () => {
    incident = await Incident.begin([remind, echo], NO_HOLD)
    const run = await incident.world.run({ prompt: 'remind me' })
    await asked('here is your reminder', 1)
    const { items } = await incident.world.api<{ items: Run[] }>('GET', '/api/runs')
    expect(items.map((one) => [one.outcome, one.sessionId])).toEqual([
      ['completed', run.sessionId],
      ['completed', run.sessionId],
    ])
    expect(items[0]?.followUpId).toBe((await followUps())[0]?.id)
  })

  it('a prompt that an agent accepted but could not confirm is not given to its session again', async () => {
    const goesOn: RuleInput = { when: { user: 'You were interrupted' }, reply: 'going on' }
    const plans: RuleInput = {
      ...remind,
      reply: [wakeUp(600, 'here is your reminder') as never, results, { text: 'I will' }],
    }
    incident = await Incident.begin([goesOn, plans, echo], NO_HOLD)
    const { world } = incident
    const run = await world.run({ prompt: 'remind me' })
    await world.killDaemon()
    // The state that a kept agent leaves that accepted the prompt and was killed before it printed anything.
    const path = transcriptOf(world.configDir, run.sessionId!)
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    const records = lines.map((line) => JSON.parse(line) as { type: string; uuid?: string })
    const last = records.findLast(({ type }) => type === 'assistant')
    const db = new DatabaseSync(join(world.home, 'reprise.db'))
    const row = db.prepare('update follow_ups set due_at = ? returning message_id').get(Date.now())
    db.close()
    const content = 'here is your reminder'
    const taken = {
      type: 'user',
      uuid: row?.message_id,
      parentUuid: last?.uuid,
      message: { role: 'user', content },
    }
    const first = records.find(({ type }) => type === 'user')
    appendFileSync(path, `${JSON.stringify({ ...first, ...taken })}\n`)
    await world.startDaemon()
    const [again] = await until(async () => {
      const { items } = await world.api<{ items: Run[] }>('GET', '/api/runs')
      return items.length === 2 && items[0]?.state === 'settled' ? items : null
    }, 'the follow-up to be given')
    expect(again).toMatchObject({ outcome: 'completed', resumed: true })
    expect(said('here is your reminder')).toEqual([])
    expect(incident.prompts().at(-1)?.text).toContain('You were interrupted')
  })

  it('a conversation’s follow-up is a turn of it', async () => {
    incident = await Incident.begin([remind, echo], NO_HOLD)
    const chat = await Chat.create(incident.world)
    await chat.say('remind me')
    await asked('here is your reminder', 1)
    const texts = await chat.texts()
    expect(texts).toHaveLength(4)
    expect(texts[2]).toContain('here is your reminder')
    expect(await chat.say('and on')).toMatchObject({ outcome: 'completed', resumed: true })
  })

  it('a conversation does not wait for later follow-ups', async () => {
    incident = await Incident.begin([remind, echo])
    const chat = await Chat.create(incident.world)
    const run = await chat.say('remind me')
    await asked('here is your reminder', 1)
    const [given] = await followUps()
    expect(given).toMatchObject({ state: 'fired', firedCount: 1, runId: run.id })
    expect(given?.firedRunId).not.toBe(run.id)
    expect(Date.parse(given?.firedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(run.endedAt ?? ''))
    expect(await chat.texts()).toHaveLength(4)
  })

  const later: RuleInput = { ...remind, reply: [wakeUp(30) as never, results, { text: 'I will' }] }

  it('follow-ups of a turn are cancelled with it: asked again, removed, or with its conversation', async () => {
    // Also in a resumed session, where a note about earlier questions comes first.
    incident = await Incident.begin([{ ...later, when: '/remind me$/' }, echo])
    const chat = await Chat.create(incident.world)
    const states = async () => (await followUps()).map(({ state }) => state).reverse()
    await chat.say('remind me')
    await chat.say('remind me')
    expect(await states()).toEqual(['planned', 'planned'])
    await chat.edit(2, 'say nothing')
    expect(await states()).toEqual(['planned', 'planned'])
    await chat.drop(3)
    expect(await states()).toEqual(['planned', 'cancelled'])
    await chat.retry(0)
    expect(await states()).toEqual(['cancelled', 'cancelled', 'planned'])
    await incident.world.request('DELETE', `/api/conversations/${chat.id}`)
    expect(await states()).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  it('a run that is cancelled cancels its follow-ups', async () => {
    incident = await Incident.begin([later, echo])
    const { world } = incident
    const { id } = await world.createRun({ prompt: 'remind me' })
    await world.waitForEvent(
      id,
      (event) => event.type === 'note' && event.text.includes('the process is kept'),
    )
    await world.api('POST', `/api/runs/${id}/cancel`)
    expect(await world.settled(id)).toMatchObject({
      outcome: 'cancelled',
      followUps: [{ state: 'cancelled', cancelledBy: 'person' }],
    })
  })

  it('people can plan one too, and its time must be valid', async () => {
    incident = await Incident.begin([echo], NO_HOLD)
    const { world } = incident
    const run = await world.run({ prompt: 'hello' })
    const plan = (body: object) => world.request('POST', '/api/followups', { prompt: 'and now?', ...body })
    const refusals: [object, RegExp][] = [
      [{ runId: run.id, at: '2020-01-01T00:00:00Z' }, /past/],
      [{ runId: run.id, at: '2099-01-01T00:00:00Z' }, /too far ahead/],
      [{ runId: run.id, cron: 'every day' }, /fields instead of five/],
      [{ runId: run.id, cron: '* * * * * *' }, /seconds are not supported/],
      [{ runId: run.id }, /one of at, inMs and cron/],
      [{ inMs: 2000 }, /either runId or sessionId/],
      [{ runId: run.id, inMs: -5 }, /inMs/],
    ]
    for (const [body, says] of refusals) {
      const response = await plan(body)
      expect(response.status).toBe(400)
      expect(JSON.stringify(await response.json())).toMatch(says)
    }
    expect((await plan({ runId: run.id, inMs: 1500 })).status).toBe(201)
    await asked('and now?', 1)
    expect(await followUps()).toMatchObject([{ state: 'fired', createdBy: 'person', runId: run.id }])
  })
})
