/** A daemon that was started with an open umask: all that Reprise writes is private, and agents have that umask. */
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { REPRISE, until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

test('no file in the home is open to others, whatever the umask', async () => {
  world = await World.create({
    name: 'umask',
    rules: [
      {
        reply: [
          { tool: 'Bash', input: { command: 'echo made > made; mkdir folder', description: 'work' } },
          { await: 'results' },
          { text: 'done' },
        ],
      },
    ],
  })
  execFileSync('git', ['init', '-q'], { cwd: world.workDir })
  await world.startDaemon({
    program: ['/bin/sh', '-c', 'umask 0; exec "$0" "$@"', REPRISE, 'up', '--foreground'],
  })
  const body = { prompt: 'work', workDir: world.workDir, permissions: 'allow', checkpoints: true }
  const job = await world.api<{ id: string }>('POST', '/api/jobs', body)
  const isDone = async () =>
    (await world.api<{ state: string }>('GET', `/api/jobs/${job.id}`)).state === 'completed'
  await until(isDone, 'the job')

  const mode = (path: string) => statSync(path).mode & 0o777
  const open: string[] = []
  const walk = (dir: string) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name)
      if (entry.isSymbolicLink()) continue
      if ((mode(path) & 0o077) !== 0)
        open.push(`${path.slice(world.home.length + 1)} ${mode(path).toString(8)}`)
      if (entry.isDirectory()) walk(path)
    }
  }
  expect(mode(world.home)).toBe(0o700)
  walk(world.home)
  expect(open).toEqual([])
  expect([mode(join(world.workDir, 'made')), mode(join(world.workDir, 'folder'))]).toEqual([0o666, 0o777])
})
