/** What the machine may do to a command: a sentence, the right exit code, and no stack trace. */
import { execFile } from 'node:child_process'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { widthOf } from '../../src/cli/terminal/terminal.ts'
import { resolveHome } from '../../src/config/home.ts'
import { isAlive } from '../../src/library/find-daemon.ts'
import { REPRISE } from '../support/world.ts'
import { createCli } from './cli.ts'

const cli = createCli()
afterAll(() => cli.close())

/** In a shell, in a home of its own. */
const shell = (script: string) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const env = { PATH: process.env.PATH ?? '', HOME: cli.workDir, REPRISE_HOME: cli.home, REPRISE: REPRISE }
    execFile('/bin/sh', ['-c', script], { env, cwd: cli.workDir }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: `${stdout}${stderr}` }),
    )
  })

test('a current directory that was deleted', async () => {
  const { code, output } = await shell('mkdir gone && cd gone && rmdir ../gone && "$REPRISE" status')
  expect(code).toBe(1)
  expect(output).toContain('error: the current directory does not exist any more')
  expect(output).not.toContain('    at ')
})

test('an output that cannot be written, and one that nobody reads', async () => {
  const full = await shell('"$REPRISE" config schema > /dev/full')
  expect(full).toMatchObject({
    code: 1,
    output: expect.stringContaining('error: cannot write the output: ENOSPC'),
  })
  const head = await shell('{ "$REPRISE" config schema; echo "code $?" >&2; } | head -1')
  expect(head.output).toContain('code 0')
})

test('an empty HOME is the one that the system knows; a width of 0 is none', () => {
  const { homedir } = userInfo()
  expect(resolveHome({ env: { HOME: '' }, cwd: '/' })).toBe(join(homedir, '.reprise'))
  expect(widthOf({ columns: 0 } as never)).toBe(120)
})

test('a daemon that hangs: the command says so, and down --force ends it', async () => {
  await cli.run(['up'])
  const pid = cli.daemonPid()
  process.kill(pid, 'SIGSTOP')
  const refused = await cli.run(['status'])
  expect([refused.code, refused.stderr]).toEqual([
    3,
    expect.stringContaining('end it with: reprise down --force'),
  ])
  const ended = await cli.run(['down', '--force'])
  expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining(`Ended the daemon (pid ${pid}).`)])
  expect(isAlive(pid)).toBe(false)
})
