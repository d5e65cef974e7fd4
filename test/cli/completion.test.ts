/** `reprise completion`: the script of bash in a real bash, and what the others are told. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shortId } from '../../src/contract/reference.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

const BIN = new URL('../../bin', import.meta.url).pathname
const run = promisify(execFile)

let cli: CliDouble
beforeAll(async () => {
  cli = await createCliDouble()
})
afterAll(() => cli.close())

const suggest = async (...words: string[]) => {
  const { code, stdout, stderr } = await cli.run(['completion', 'words', '--', ...words])
  expect([code, stderr]).toEqual([0, ''])
  return stdout === '' ? [] : stdout.trimEnd().split('\n')
}
const values = async (...words: string[]) => (await suggest(...words)).map((line) => line.split('\t')[0])

describe('the command tree', () => {
  test('commands, subcommands and options, each with what it does', async () => {
    expect(await suggest('jo')).toEqual(['jobs\tlist, show, retry and cancel jobs'])
    expect(await values('')).toEqual(expect.arrayContaining(['run', 'attach', 'completion']))
    expect(await values('watch', 'c')).toEqual(['cycles', 'cycle', 'cancel'])
    expect(await values('run', '--age')).toEqual(['--agent'])
    expect(await values('down', '--')).toEqual(['--cancel', '--force', '--json', '--help'])
    expect(await values('completion', '')).toEqual(['bash', 'zsh', 'fish', 'help'])
  })

  test('the values of options, of a default subcommand too', async () => {
    expect(await values('runs', '--state', '')).toEqual(['queued', 'running', 'settled'])
    expect(await values('runs', 'list', '--state=s')).toEqual(['--state=settled'])
    expect(await values('watch', 'add', 'x', '--every', '30m', '--memory', 'p')).toEqual(['persistent'])
  })

  test('nothing where anything can be written, and no options after --', async () => {
    expect(await values('run', '--cwd', '')).toEqual([])
    expect(await values('run', 'do', '')).toEqual([])
    expect(await values('run', '--', '--age')).toEqual([])
    expect(await values('no-such-command', '')).toEqual([])
  })
})

describe('what only the daemon knows', () => {
  test('ids in short form, or as they were begun, and names', async () => {
    const { id } = cli.engine.addRun({ prompt: 'Fix \u001b[31mthis' })
    cli.engine.addWatch({ name: 'media' })
    expect(await values('runs', 'show', 'run_')).toContain(shortId(id))
    expect(await values('runs', 'show', id.slice(0, 20))).toContain(id)
    expect(await values('watch', 'trigger', 'me')).toEqual(['media'])
    expect(await values('attach', 'me')).toEqual(['media'])
    expect(await values('attach', 'la')).toEqual(['last'])
    expect((await suggest('runs', 'show', shortId(id))).join()).not.toContain('\u001b')
  })

  test('without a daemon only what is always right, and none is started', async () => {
    const alone = await createCliDouble({ up: false })
    try {
      const { code, stdout } = await alone.run(['completion', 'words', '--', 'runs', 'show', ''])
      expect([code, stdout]).toEqual([0, 'last\tthe newest one\n'])
      expect(existsSync(join(alone.home, 'daemon.json'))).toBe(false)
    } finally {
      await alone.close()
    }
  })
})

/** Types a line in a bash that has read the script, and returns what Tab would offer. */
async function bash(words: readonly string[]): Promise<string[]> {
  const script = `
    source <(reprise completion bash) || exit 1
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reprise
    printf '%s\\n' "\${COMPREPLY[@]}"
    complete -p reprise >&2`
  const { stdout, stderr } = await run('bash', ['--norc', '-c', script, 'bash', ...words], {
    env: { PATH: `${BIN}:${process.env.PATH}`, HOME: cli.workDir, REPRISE_HOME: cli.home },
  })
  expect(stderr).toContain('-F _reprise reprise')
  return stdout.trimEnd().split('\n')
}

test('bash completes with the script', async () => {
  const { id } = cli.engine.addJob({ prompt: 'Two words' })
  expect(await bash(['reprise', 'jobs', 'show', shortId(id).slice(0, 6)])).toContain(shortId(id))
  // Bash makes three words of --state=settled.
  expect(await bash(['reprise', 'runs', '--state', '=', 'se'])).toEqual(['settled'])
  expect(await bash(['reprise', 'run', '--cwd', ''])).toEqual([''])
})

test.each(['zsh', 'fish'])('the script for %s can be read by it, where there is one', async (shell) => {
  const { code, stdout } = await cli.run(['completion', shell])
  expect(code).toBe(0)
  expect(stdout).toContain('completion words -- ')
  const there = await run(shell, ['--version']).then(
    () => true,
    () => false,
  )
  if (there) await run(shell, ['-n', '-c', stdout])
})

test('wrong usage', async () => {
  expect(await cli.run(['completion', 'tcsh'])).toMatchObject({ code: 2 })
  expect((await cli.run(['completion', '--json', 'fish'])).json()).toMatchObject({ shell: 'fish' })
})
