/** A daemon without descriptors or processes, for a while: runs wait for them, and agents at work are not disturbed. */
import { execFileSync } from 'node:child_process'
import { afterEach, expect, it } from 'vitest'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const limitFiles = (count: number) =>
  execFileSync('prlimit', ['--pid', String(world.daemonPid), `--nofile=${count}:`])
const notes = async (id: string) =>
  (await world.events(id)).flatMap((event) => (event.type === 'note' ? [event.text] : []))

it('exhausted descriptors cost jobs time only: one at work continues, one that starts waits with a reason', async () => {
  const rules = [
    { when: '/^at work$/', reply: ['Half.', { hold: 'gate' }, ' Whole.'] },
    { reply: 'Started.' },
  ]
  world = await World.create({ name: 'descriptors', rules }, { run: { concurrency: 1 } })
  await world.startDaemon()
  const job = (prompt: string) =>
    world.api<{ runId: string }>('POST', '/api/jobs', { prompt, workDir: world.workDir, maxResumes: 0 })
  const atWork = await job('at work')
  const next = await job('next')
  await world.simulator.waitForHold('gate')
  // Fewer than are open: also what is closed meanwhile cannot be opened again.
  limitFiles(12)
  world.simulator.release('gate')
  await until(() => /"failures":1.*EMFILE/.test(world.log()), 'a refusal')
  limitFiles(1024)

  expect(await world.settled(atWork.runId)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  const started = await world.settled(next.runId)
  expect(started).toMatchObject({ outcome: 'completed', resultText: 'Started.' })
  expect((await notes(next.runId)).concat(await notes(atWork.runId))).toContainEqual(
    expect.stringMatching(/this machine cannot do it at present: .*EMFILE.*continues automatically/),
  )
  expect(started.attempts.map(({ outcome }) => outcome)).not.toContain('timed-out')
})
