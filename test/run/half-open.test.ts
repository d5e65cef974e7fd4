/**
 * 1,200 connections that never finish a request, against a daemon that may have few files open: the job that runs is not
 * affected, commands work, and so does the page.
 */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { findDaemon } from '../../src/library/find-daemon.ts'
import { REPRISE, until, World } from '../support/world.ts'

const HALF_OPEN = 1200
let world: World
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await world.close()
})

test('half-open connections cost neither a running job nor the command line', async () => {
  world = await World.create({
    name: 'half-open',
    rules: [
      {
        reply: [
          {
            tool: 'Bash',
            input: {
              command: 'touch begun; until [ -e go ]; do sleep 0.1; done; echo the tool went on',
              description: 'work',
            },
          },
          { await: 'results' },
          { text: 'done' },
        ],
      },
    ],
  })
  // Fewer files than connections: without a limit, the daemon could not open the files of its job any more.
  await world.startDaemon({
    program: ['/bin/sh', '-c', 'ulimit -n 512; exec "$0" "$@"', REPRISE, 'up', '--foreground'],
  })
  const job = await world.api<{ id: string }>('POST', '/api/jobs', {
    prompt: 'work',
    workDir: world.workDir,
    permissions: 'allow',
  })
  await until(() => existsSync(join(world.workDir, 'begun')), 'the tool')

  const daemon = await findDaemon(world.home)
  if (!daemon) throw new Error('no daemon')
  const { hostname, port } = new URL(daemon.url)
  const dial = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write('GET /api/status HTTP/1.1\r\nHost: localhost\r\nX-Never-Ending: ')
        resolve()
      })
      socket.on('error', () => resolve())
      sockets.push(socket)
    })
  await Promise.all(Array.from({ length: HALF_OPEN }, dial))
  // Over the socket, and over the port, while they are held.
  expect((await daemon.client.getJob(job.id)).state).toBe('running')
  expect((await world.request('GET', '/api/status')).status).toBe(200)

  await writeFile(join(world.workDir, 'go'), '')
  await daemon.client.whenJobEnds(job.id)
  const ended = await daemon.client.getJob(job.id)
  expect([ended.state, ended.attemptCount]).toEqual(['completed', 1])
  expect(JSON.stringify(world.simulator.requests())).toContain('the tool went on')
  expect(world.log()).not.toContain('EMFILE')
})
