/** What an agent plans with its own tools is stored by Reprise and given to its session once, on the real CLI. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import type { EventOf } from '../../src/contract/events.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import type { Run, RunDetail } from '../../src/contract/run.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
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
const NO_HOLD = { followUps: { hold: '0ms' } }
const begin = () => incident.investigate({ prompt: 'restart web', tier: 2 })

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
    incident = await Incident.begin([goesOn, plans(wakeUp(1)), slow])
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

it('a prompt that an agent accepted but could not confirm is not given to its session again', async () => {
  const goesOn: RuleInput = { when: { user: 'You were interrupted' }, reply: 'going on' }
  const remind: RuleInput = {
    when: '/^remind me$/',
    reply: [wakeUp(600, 'here is your reminder') as never, results, { text: 'I will' }],
  }
  const echo: RuleInput = { reply: 'You said: ${user}' }
  incident = await Incident.begin([goesOn, remind, echo], NO_HOLD)
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
