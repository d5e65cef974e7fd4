/** The socket of a real daemon: private, used by commands, and in another place where the home's path is too long. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { DaemonFile } from '../../src/contract/http.ts'
import { type Cli, createCli } from './cli.ts'

let cli: Cli
afterEach(() => cli.close())
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
const published = (home: string) =>
  JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as DaemonFile & { socket: string }

test('it is in the home, for the owner only, and is removed with the daemon', async () => {
  cli = createCli({ ANTHROPIC_API_KEY: 'made-up' })
  // The umask must not matter.
  const umask = process.umask(0)
  const up = await cli.run(['up', '--json'])
  process.umask(umask)
  expect(up.code).toBe(0)
  expect(published(cli.home)).toMatchObject({ socket: 'daemon.sock' })
  const socket = join(cli.home, 'daemon.sock')
  expect([mode(cli.home), mode(socket)]).toEqual(['700', '600'])
  // Also a second daemon, after one that could not clean up.
  process.kill(cli.daemonPid(), 'SIGKILL')
  expect((await cli.run(['up', '--json'])).json()).toMatchObject({ alreadyRunning: false })
  expect((await cli.inside(['status', '--json'])).json()).toMatchObject({ status: 'ok' })

  // The built-in fetch takes long to load; requests and streams over the socket do without it.
  const script = `
    import { findDaemon } from ${JSON.stringify(new URL('../../src/library/find-daemon.ts', import.meta.url).href)}
    const { client } = await findDaemon(${JSON.stringify(cli.home)})
    await client.status()
    for await (const _ of client.changes({ follow: false, after: 'latest' }));
    console.log(JSON.stringify(process.moduleLoadList.filter((name) => name.includes('undici'))))`
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(JSON.parse(loaded)).toEqual([])

  expect((await cli.run(['down'])).code).toBe(0)
  expect(existsSync(socket)).toBe(false)
})

test('a home whose path is too long for a socket has it elsewhere, just as private', async () => {
  const name = 'a-directory-with-a-long-name'.repeat(6)
  cli = createCli({ ANTHROPIC_API_KEY: 'made-up' })
  const home = join(cli.workDir, name)
  mkdirSync(home, { mode: 0o700 })
  const env = { REPRISE_HOME: home }
  expect((await cli.run(['up', '--json'], { env })).code).toBe(0)
  const { socket, pid } = published(home)
  expect([mode(dirname(socket)), mode(socket)]).toEqual(['700', '600'])
  expect((await cli.inside(['status', '--json'], { env })).json()).toMatchObject({ status: 'ok', pid })
  // The next daemon removes what this one leaves behind.
  process.kill(pid, 'SIGKILL')
  expect((await cli.run(['up', '--json'], { env })).code).toBe(0)
  expect(existsSync(dirname(socket))).toBe(false)
  const next = published(home).socket
  expect((await cli.run(['down'], { env })).code).toBe(0)
  expect(existsSync(dirname(next))).toBe(false)
})
