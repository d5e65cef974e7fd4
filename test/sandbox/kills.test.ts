/**
 * The daemon is killed while it brokers a restart, on the real CLI: the program runs exactly once, its exit code arrives, or the agent is told
 * that the outcome is unknown. The chain ends in every case.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { attackAt, BASE } from '../support/attack.ts'
import { FIXED, Incident, TASK } from '../support/incident.ts'
import { pauseAt } from '../support/pause.ts'
import { sampleOf } from '../support/sample.ts'
import { until } from '../support/world.ts'

let incident: Incident
afterEach(() => incident.close())

const POINTS = ['asked', 'runs', 'ended', 'unknown']

/** One restart for each point, when the test says so. What came of it is in the file `codes`. */
const RESTARTS = `
touch ready
for point in ${POINTS.join(' ')}; do
  until [ -e "$point" ]; do sleep 0.05; done
  docker restart "$point"
  echo "$point $?" >>codes
done
`

it('at each point of a call: it runs once and its exit code arrives, or the outcome is unknown', async () => {
  incident = await Incident.prepare([attackAt(3, RESTARTS, FIXED)], {}, BASE)
  const { world } = incident
  const { workDir, dir } = world
  // Waits until the test lets it end.
  await incident.install(
    'docker',
    `echo "$*" >> '${dir}/docker.log'\nuntil [ -e '${dir}/end-'"$2" ]; do sleep 0.05; done\nexit 3`,
  )
  await world.startDaemon()
  const codes = () =>
    existsSync(join(workDir, 'codes')) ? readFileSync(join(workDir, 'codes'), 'utf8').trim().split('\n') : []
  const begin = (point: string) => writeFileSync(join(workDir, point), '')
  const end = (point: string) => writeFileSync(join(dir, `end-${point}`), '')
  const isRunning = (point: string) => until(() => incident.docker.includes(`restart ${point}`), point)
  const returns = (line: string) => until(() => codes().includes(line), line)

  const { id } = await incident.investigate({ tier: 3 })
  /** The runner tells the agent the exit code; the daemon learns it from the runner's file. */
  const isRecorded = (point: string) =>
    world.waitForEvent(id, (event) => event.type === 'program-end' && event.what.endsWith(` ${point}`))
  await until(() => existsSync(join(workDir, 'ready')), 'the agent')
  const spool = join(world.home, 'spool', readdirSync(join(world.home, 'spool'))[0] ?? '')

  await world.killDaemon()
  begin('asked')
  const requests = () => readdirSync(join(spool, 'broker/asked')).filter((name) => !name.includes('.'))
  await until(() => requests().length === 1, 'the request')
  expect(incident.docker).toEqual([])
  end('asked')
  await world.startDaemon()
  await returns('asked 3')
  await isRecorded('asked')

  begin('runs')
  await isRunning('runs')
  await world.killDaemon()
  await world.startDaemon()
  end('runs')
  await returns('runs 3')
  await isRecorded('runs')

  begin('ended')
  await isRunning('ended')
  await world.killDaemon()
  end('ended')
  await returns('ended 3')
  await world.startDaemon()

  begin('unknown')
  await isRunning('unknown')
  await world.killDaemon()
  const calls = readdirSync(join(spool, 'calls')).map((call) => join(spool, 'calls', call))
  const open = calls.find((call) => !existsSync(join(call, 'exit'))) ?? ''
  const claim = await until(() => {
    const text = readFileSync(join(open, 'claim'), 'utf8')
    return isAlive(text) ? text : null
  }, 'the runner')
  process.kill(pidOf(claim), 'SIGKILL')
  await world.startDaemon()
  await returns('unknown 125')

  const chain = await incident.rested(id)
  expect(chain.runs[0]).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  expect(incident.docker).toEqual(POINTS.map((point) => `restart ${point}`))
  expect(codes()).toEqual(['asked 3', 'runs 3', 'ended 3', 'unknown 125'])
  expect(JSON.stringify(world.simulator.requests())).toContain('outcome unknown, not repeated')
  const events = await world.events(id)
  const ends = events.flatMap((event) => (event.type === 'program-end' ? [event] : []))
  expect(ends.map(({ what, exitCode }) => [what, exitCode])).toEqual(
    POINTS.map((point) => [`docker restart ${point}`, point === 'unknown' ? null : 3]),
  )
})

const pidOf = (claim: string) => Number(claim.split(' ')[0])

function isAlive(claim: string): boolean {
  return existsSync(`/proc/${pidOf(claim)}/stat`)
}

const writes = sampleOf(
  [
    ['before', 'claimActions'],
    ['after', 'claimActions'],
    ['before', 'addEvents'],
    ['after', 'addEvents'],
  ],
  (write) => write,
)
it.each(writes)('%s %s is stored: it runs once and is counted once', async (when, method) => {
  const restart = 'docker restart web; echo "code $?" >code'
  incident = await Incident.prepare([attackAt(2, restart, FIXED)], {}, BASE)
  const { world } = incident
  const id = await pauseAt(world, when, method, { run: { prompt: TASK, workDir: world.workDir, tier: 2 } })
  await world.startDaemon()
  const chain = await incident.rested(id)
  expect(chain.runs[0]).toMatchObject({ outcome: 'completed', attemptCount: 1, refusals: 0 })
  expect(incident.docker).toEqual(['restart web'])
  expect(readFileSync(join(world.workDir, 'code'), 'utf8')).toBe('code 0\n')
  const { services } = JSON.parse(readFileSync(join(world.home, 'state/cooldown.json'), 'utf8'))
  expect(services).toMatchObject({ web: { restart: { used: 1 } } })
  const ends = (await world.events(id)).filter(({ type }) => type === 'program-end')
  expect(ends).toMatchObject([{ what: 'docker restart web', exitCode: 0 }])
})
