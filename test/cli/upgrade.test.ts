/** Upgrading and going back, with agents at work: two installations, real daemons, the real agent. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { JobDetail } from '../../src/contract/job.ts'
import { findDaemon } from '../../src/library/find-daemon.ts'
import { readVersion } from '../../src/library/version.ts'
import { type Simulator, startSimulator } from '../../src/simulator/server.ts'
import { type Cli, createCli } from './cli.ts'
import {
  createNewerReprise,
  type Failure,
  failAt,
  NEWER_SCHEMA,
  NEWER_VERSION,
  type NewerReprise,
  type Point,
} from './newer-reprise.ts'

const OLDER_VERSION = readVersion()
/** Each test starts some twenty processes. The limit only ends what would never come. */
const LIMIT_MS = 600_000
const POLL = { timeout: LIMIT_MS, interval: 50 }

let simulator: Simulator
let cli: Cli
let newer: NewerReprise
beforeAll(async () => {
  newer = createNewerReprise()
  simulator = await startSimulator({
    scenario: {
      rules: [
        { when: 'wait', reply: [{ text: 'Waiting.' }, { hold: 'gate' }, { text: ' Went on.' }] },
        { reply: [{ text: 'You said: ${user}' }] },
      ],
    },
  })
  cli = createCli(agentEnv())
})
afterAll(async () => {
  await cli.close()
  await simulator.close()
  newer.remove()
})

const agentEnv = () => ({ ANTHROPIC_BASE_URL: simulator.url, ANTHROPIC_API_KEY: 'simulated' })
const withNewer = (args: string[]) => cli.run(args, { bin: newer.bin })
const folder = () => join(cli.home, 'backups')
const copies = () => readdirSync(folder())

function schemaOf(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare('select max(number) as number from reprise_migrations').get()
  database.close()
  return Number(row?.number)
}

test(
  'a newer version takes over while an agent is at work, and the older one can be gone back to',
  async () => {
    const job = (await cli.run(['run', '--detach', 'wait'])).stdout.trim()
    await simulator.waitForHold('gate')
    const older = cli.daemonPid()

    // A newer command says that the daemon is older, and works with it.
    const told = await withNewer(['jobs', 'show', job, '--json'])
    expect(told.json()).toMatchObject({ state: 'running' })
    expect(told.stderr).toBe(
      `The daemon is Reprise ${OLDER_VERSION}, this command is Reprise ${NEWER_VERSION}. Restart the daemon with: reprise up; running agents continue.\n`,
    )

    const up = await withNewer(['up', '--json'])
    expect(up.json()).toMatchObject({
      version: NEWER_VERSION,
      replaced: { pid: older, version: OLDER_VERSION },
      alreadyRunning: false,
      notices: [expect.stringContaining('reprise up --restore-backup')],
    })
    expect((await withNewer(['up', '--json'])).json()).toMatchObject({ alreadyRunning: true, replaced: null })
    const [copy = ''] = copies()
    expect(copies()).toEqual([expect.stringContaining(`reprise-${OLDER_VERSION}-schema-`)])
    expect(statSync(join(folder(), copy)).mode & 0o777).toBe(0o600)
    expect(schemaOf(join(folder(), copy))).toBeLessThan(NEWER_SCHEMA)
    expect(schemaOf(join(cli.home, 'reprise.db'))).toBe(NEWER_SCHEMA)

    // An older command leaves the newer daemon alone.
    const left = await cli.run(['up', '--json'])
    expect(left.json()).toMatchObject({ alreadyRunning: true, version: NEWER_VERSION })
    const refused = await cli.run(['up', '--restart'])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(join(folder(), copy)) })
    expect((await cli.inside(['status'])).stderr).toContain('Use the newer version of the command.')

    // The job ends once, in the attempt that the older daemon started.
    simulator.release('gate')
    await withNewer(['attach', job])
    const ended = (await withNewer(['jobs', 'show', job, '--json'])).json<JobDetail>()
    expect(ended).toMatchObject({ state: 'completed', resultText: ' Went on.' })
    expect(ended.attempts).toHaveLength(1)
    const asked = simulator.requests().length

    // A daemon of the older version refuses the newer database and names the copy.
    await withNewer(['down'])
    const alone = await cli.run(['up'])
    expect(alone.code).toBe(1)
    expect(alone.stderr).toContain(
      `Reprise ${NEWER_VERSION} has migrated the database to schema ${NEWER_SCHEMA}`,
    )
    expect(alone.stderr).toContain(join(folder(), copy))
    expect(alone.stderr).toContain('reprise up --restore-backup')

    // Going back: the older version continues with the copy, and does not repeat what has ended since.
    const back = (await cli.run(['up', '--restore-backup', '--json'])).json()
    expect(back).toMatchObject({ version: OLDER_VERSION, notices: [expect.stringContaining(copy)] })
    await cli.run(['attach', job])
    expect((await cli.inside(['jobs', 'show', job, '--json'])).json()).toMatchObject({ state: 'cancelled' })
    expect(simulator.requests()).toHaveLength(asked)
    expect(copies().map((name) => schemaOf(join(folder(), name)))).toContain(NEWER_SCHEMA)
    expect((await cli.inside(['run', 'hello'])).stdout).toBe('You said: hello\n')
  },
  LIMIT_MS,
)

const POINTS: [Point, Failure][] = [
  ['checked', 'kill'],
  ['rehearsed', 'throw'],
  ['told', 'kill'],
  ['copied', 'kill'],
  ['migrated', 'throw'],
  ['published', 'kill'],
]

test(
  'a new daemon that fails or is killed on the way leaves the older one running; the agent works on, also when going back',
  async () => {
    const { home, run, start, daemonPid, close } = createCli(agentEnv())
    onTestFinished(close)
    const withNewer = (args: string[]) => run(args, { bin: newer.bin })
    const version = async () => (await findDaemon(home))?.version
    const job = (await run(['run', '--detach', 'wait'])).stdout.trim()
    await simulator.waitForHold('gate')

    for (const [point, how] of POINTS) {
      const before = daemonPid()
      failAt(home, point, how)
      const failed = await withNewer(['up'])
      expect(failed.code, point).not.toBe(0)
      expect(failed.stderr, point).toContain(
        how === 'throw' ? 'made to fail' : 'ended while starting (SIGKILL)',
      )
      expect(await version(), `${point}: ${failed.stderr}`).toBe(OLDER_VERSION)
      if (point === 'checked' || point === 'rehearsed') expect(daemonPid()).toBe(before)
      else {
        expect(failed.stderr).toContain(
          `Reprise ${OLDER_VERSION} was started again (pid ${daemonPid()}); running agents continue.`,
        )
      }
    }
    expect((await run(['jobs', 'show', job, '--json'])).json()).toMatchObject({ state: 'running' })

    // The command is killed, then the daemon that it started fails: that one starts the older one again.
    failAt(home, 'migrated', 'orphan')
    const before = daemonPid()
    const orphaning = start(['up'], { bin: newer.bin })
    await orphaning.says('Migrating the database')
    orphaning.kill('SIGKILL')
    await orphaning.result
    await expect.poll(async () => (await findDaemon(home))?.pid ?? before, POLL).not.toBe(before)
    expect(await version()).toBe(OLDER_VERSION)

    // The command is killed: the daemon that it started takes over all the same.
    const command = start(['up'], { bin: newer.bin })
    await command.says('Taking over from')
    command.kill('SIGKILL')
    await command.result
    await expect.poll(version, POLL).toBe(NEWER_VERSION)

    process.kill(daemonPid(), 'SIGKILL')
    expect((await withNewer(['up'])).code).toBe(0)

    // Going back while the agent works: the older version adopts it.
    const back = await run(['up', '--restore-backup'])
    expect(back).toMatchObject({ code: 0, stdout: expect.stringContaining('Went back to the copy') })
    expect(await version()).toBe(OLDER_VERSION)
    simulator.release('gate')
    await run(['attach', job])
    const ended = (await run(['jobs', 'show', job, '--json'])).json<JobDetail>()
    expect(ended).toMatchObject({ state: 'completed', resultText: ' Went on.' })
    expect(ended.attempts).toHaveLength(1)
  },
  LIMIT_MS,
)
