/** `reprise logs`, on a log file; the daemon need not run. */
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Cli, createCli } from './cli.ts'

let cli: Cli
let path: string
beforeEach(() => {
  cli = createCli()
  mkdirSync(cli.home, { mode: 0o700 })
  path = join(cli.home, 'daemon.log')
})
afterEach(() => cli.close())

const entry = (msg: string, more: object = {}) =>
  `${JSON.stringify({ level: 30, time: '2026-03-01T12:00:00.000Z', msg, ...more })}\n`

test('the last lines, readable; entries as they are with --json', async () => {
  const trace = 'Error: a stack trace of Node\n'
  writeFileSync(
    path,
    `${entry('first')}${entry('second', { level: 40, run: 'run_1', why: 'two words' })}${trace}`,
  )
  const { code, stdout, stderr } = await cli.inside(['logs', '--lines', '2'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(
    /^2026-03-01 [\d:]{8} warn {2}second run=run_1 why="two words"\nError: a stack trace of Node\n$/,
  )
  const raw = await cli.inside(['logs', '--json'])
  expect(raw.lines()).toEqual([
    JSON.parse(entry('first')),
    expect.objectContaining({ level: 40 }),
    { msg: trace.trim() },
  ])
})

test('no log is said in a sentence', async () => {
  const { code, stdout, stderr } = await cli.inside(['logs'])
  expect([code, stdout, stderr]).toEqual([0, '', `There is no log yet at ${path}.\n`])
})

test('follows what is added, also into a log that replaced the old one', async () => {
  writeFileSync(path, `${entry('old')}{"half of`)
  const running = cli.start(['logs', '--follow', '--lines', '1'])
  await running.says('old')
  appendFileSync(path, ' a line"}\n')
  await running.says('half of a line')
  renameSync(path, `${path}.1`)
  writeFileSync(path, entry('in the next file'))
  await running.says('in the next file')
  running.kill('SIGINT')
  const { code, stdout } = await running.result
  expect(code).toBe(130)
  expect(stdout.match(/old/g)).toHaveLength(1)
})
