/** A disk that is really full, under the daemon, its log and a real agent. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import type { Status } from '../../src/contract/http.ts'
import { findMounter, SmallDisk } from '../support/small-disk.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const mounter = findMounter()
const MIB = 1 << 20

it.skipIf(mounter === null)(
  'a full disk ends neither the daemon nor a job: new work waits, what may be lost is said, and all of it is done later',
  async () => {
    const rules = [
      { when: '/^second$/', reply: 'Second.' },
      {
        when: '/^first$/',
        reply: ['Half.', { hold: 'gate' }, 'whole '.repeat(2000), { hold: 'end' }],
        times: 1,
      },
      { reply: 'Continued.' },
    ]
    world = await World.create({ name: 'disk', rules }, { jobs: { backoff: '1s' } })
    const disk = await SmallDisk.start(world, mounter ?? [], 64 * MIB)
    const job = (prompt: string) =>
      world.api<{ runId: string }>('POST', '/api/jobs', { prompt, workDir: world.workDir, maxResumes: 0 })
    const status = () => world.api<Status>('GET', '/api/status')
    await until(() => existsSync(disk.path('reserve')), 'the reserve')
    expect(statSync(disk.path('reserve')).mode & 0o777).toBe(0o600)

    const first = await job('first')
    await world.simulator.waitForHold('gate')
    // The daemon does not look until the agent has printed into the full disk.
    process.kill(world.daemonPid, 'SIGSTOP')
    disk.fill()
    world.simulator.release('gate')
    const printed = () => readFileSync(disk.path(`spool/${readdirSync(disk.path('spool'))[0]}/out`), 'utf8')
    await world.simulator.waitForHold('end')
    await until(() => !printed().endsWith('\n'), 'a line that is written in part')
    process.kill(world.daemonPid, 'SIGCONT')
    await until(() => !existsSync(disk.path('reserve')), 'the release of the reserve')
    expect((await status()).disks).toMatchObject([{ full: true }])
    await world.waitForEvent(first.runId, ({ type }) => type === 'attempt-end')
    // The daemon logs into a disk that is completely full.
    disk.fill()
    expect(await status()).toMatchObject({ cannotStore: { why: expect.stringContaining('full') } })
    disk.empty()

    expect(await world.settled(first.runId)).toMatchObject({ outcome: 'completed', resultText: 'Continued.' })
    const events = await world.events(first.runId)
    expect(events).toContainEqual(expect.objectContaining({ type: 'gap', reason: 'disk-full' }))
    const ends = events.flatMap((event) => (event.type === 'attempt-end' ? [event.outcome] : []))
    expect(ends.map(({ name, temporary }) => [name, temporary])).toEqual([
      ['crashed', true],
      ['completed', undefined],
    ])
    expect(await world.getRun(first.runId)).toMatchObject({ resumed: true })

    await until(() => existsSync(disk.path('reserve')), 'the reserve again')
    disk.fillTo(3 * MIB)
    await until(async () => (await status()).disks.length > 0, 'the shortage')
    const second = await job('second')
    const waiting = await until(async () => {
      const run = await world.getRun(second.runId)
      return run.notBefore === null ? null : run
    }, 'the wait')
    expect(waiting.message).toMatch(
      /^disk nearly full: .* free on the disk of .*, needs 6 MiB; continues automatically$/,
    )
    disk.empty()
    expect(await world.settled(second.runId)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
    expect((await status()).disks).toEqual([])
  },
)
