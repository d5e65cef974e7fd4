/**
 * Somebody else holds the port of the daemon, or puts a socket where the daemon's was: commands do not send the token
 * there. In front of the engine double; the impostor is a real server that notes what it is sent.
 */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findDaemon } from '../../src/library/find-daemon.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'
import { runInside } from './inside.ts'

const received: string[] = []
const note = ({ url, rawHeaders }: IncomingMessage) => received.push([url, ...rawHeaders].join(' '))
const health = { status: 'ok', version: '0', pid: process.pid, startedAt: new Date().toISOString() }
let impostor: Server
beforeEach(async () => {
  received.length = 0
  impostor = createServer((request, response) => {
    note(request)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(health))
  })
  await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve))
  return () => impostor.close()
})
const portOf = (server: Server) => (server.address() as AddressInfo).port

describe('the port', () => {
  let home: string
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-impostor-')))
    writeFileSync(join(home, 'token'), 'the-token-that-nobody-else-may-see')
    return () => rmSync(home, { recursive: true })
  })
  // A daemon that crashed left the file; its pid is alive again, as a process of the one who took the port.
  const leave = (more: object) =>
    writeFileSync(
      join(home, 'daemon.json'),
      JSON.stringify({
        pid: process.pid,
        url: `http://127.0.0.1:${portOf(impostor)}`,
        startedAt: new Date().toISOString(),
        ...more,
      }),
    )
  const run = (...args: string[]) => runInside(args, { env: { HOME: home, REPRISE_HOME: home }, cwd: home })

  test.each([['status'], ['doctor'], ['down']])('%s sends nothing to it', async (command) => {
    leave({ socket: 'daemon.sock' })
    expect((await run(command)).stdout).not.toContain('running at')
    expect(received).toEqual([])
  })

  test('of a daemon without a socket is asked who it is, without the token, and not used', async () => {
    leave({})
    const { code, stderr } = await run('status')
    expect(code).toBe(3)
    expect(stderr).toContain('older version')
    expect(stderr).toContain(`kill ${process.pid}`)
    expect(received.length).toBeGreaterThan(0)
    expect(received.join('\n')).toMatch(/\/api\/health/)
    expect(received.join('\n')).not.toMatch(/authorization|nobody-else/i)
  })
})

describe('the socket', () => {
  let cli: CliDouble
  beforeEach(async () => {
    cli = await createCliDouble()
  })
  afterEach(() => cli.close())
  const socket = () => join(cli.home, 'daemon.sock')

  test('is used instead of the port: commands work though somebody else answers there', async () => {
    const file = join(cli.home, 'daemon.json')
    const daemon = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...daemon, url: `http://127.0.0.1:${portOf(impostor)}` }))
    cli.engine.addRun()
    expect((await cli.run(['runs', '--json'])).code).toBe(0)
    expect((await cli.run(['status'])).code).toBe(0)
    expect(received).toEqual([])
  })

  test('is not used where others can replace it', async () => {
    chmodSync(cli.home, 0o777)
    const { code, stderr } = await cli.run(['status'])
    expect(code).toBe(1)
    expect(stderr).toContain(`other users may write to ${cli.home} (mode 777)`)
    expect(stderr).toContain(`chmod 700 ${cli.home}`)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'is not used if it is of another user, nor its directory',
    async () => {
      chownSync(socket(), 12345, 12345)
      expect((await cli.run(['status'])).stderr).toContain(`${socket()} belongs to another user (uid 12345)`)
      chownSync(socket(), 0, 0)
      chownSync(cli.home, 12345, 12345)
      expect((await cli.run(['status'])).stderr).toContain(`${cli.home} belongs to another user (uid 12345)`)
      chownSync(cli.home, 0, 0)
      expect((await cli.run(['status'])).code).toBe(0)
    },
  )

  test('may not be a link to one elsewhere', async () => {
    const elsewhere = join(cli.workDir, 'other')
    mkdirSync(elsewhere)
    renameSync(socket(), join(elsewhere, 'daemon.sock'))
    symlinkSync(join(elsewhere, 'daemon.sock'), socket())
    expect((await cli.run(['status'])).stderr).toContain(`${socket()} is not a socket`)
    await expect(findDaemon(cli.home)).rejects.toMatchObject({ code: 'home-unusable' })
  })
})
