/** A configured command line: what it is given, and that no process of it is left. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type CommandInput, runCommand } from '../../src/process/command.ts'
import { isRunning } from '../support/processes.ts'
import { until } from '../support/world.ts'
import { marked, newAttempt } from './attempts.ts'

function command(line: string, change: Partial<CommandInput> = {}) {
  const { id, spool: workDir } = newAttempt()
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const input = {
    id,
    command: line,
    env: { PATH: process.env.PATH ?? '' },
    workDir,
    stdin: '',
    timeoutMs: 150_000,
    abort: abort.signal,
    ...change,
  }
  return { id, workDir, abort, run: () => runCommand(input) }
}

/** The numbers that a command wrote into the file, once they are there. */
const pidsIn = async (file: string, count: number) =>
  until(() => {
    const pids = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : []
    return pids.length === count ? pids : null
  }, `${count} processes in ${file}`)

describe('a command', () => {
  it('gets the text on stdin and the given environment, and no other variables', async () => {
    const { run, id } = command('cat; echo; env | sort', {
      stdin: '{"a":"$(id) \'"}',
      env: { PATH: process.env.PATH ?? '', REPRISE_MESSAGE: '$(id) `id`' },
    })
    const end = await run()
    expect(end).toMatchObject({ kind: 'exited', code: 0 })
    const [stdin, ...variables] = end.output.split('\n')
    expect(stdin).toBe('{"a":"$(id) \'"}')
    expect(variables.filter((line) => !/^(PATH|PWD|OLDPWD|SHLVL|_)=/.test(line))).toEqual([
      `REPRISE_ATTEMPT=${id}`,
      'REPRISE_MESSAGE=$(id) `id`',
    ])
  })

  it('returns how it ended, with the end of its output', async () => {
    expect(await command('echo out; echo err >&2; exit 3').run()).toMatchObject({
      kind: 'exited',
      code: 3,
      output: expect.stringMatching(/^(out\nerr|err\nout)$/),
    })
    expect(await command('kill -SEGV $$').run()).toMatchObject({ kind: 'killed', by: 'SIGSEGV' })
    const flood = await command(
      'head -c 3000000 /dev/zero | tr "\\0" x; echo; echo the end >&2; exit 1',
    ).run()
    expect(flood).toMatchObject({ kind: 'exited', code: 1 })
    expect(flood.output.length).toBeLessThanOrEqual(2048)
  })

  it('may end without reading its stdin', async () => {
    expect(await command('exit 0', { stdin: 'x'.repeat(1e6) }).run()).toMatchObject({
      kind: 'exited',
      code: 0,
    })
  })

  it('that cannot be started is a result, not an exception', async () => {
    expect(await command('true', { workDir: '/nowhere' }).run()).toMatchObject({ kind: 'not-started' })
    expect(await command('true', { env: { X: 'a\0b' } }).run()).toMatchObject({ kind: 'not-started' })
  })

  it('that takes too long is killed', async () => {
    const { run, id } = command("trap '' TERM; sleep 1000; sleep 1000", { timeoutMs: 300 })
    expect(await run()).toMatchObject({ kind: 'timed-out' })
    expect(marked(id)).toEqual([])
  })

  it('is killed with everything it started, whatever signals they ignore and wherever they moved', async () => {
    const { run, id, abort, workDir } = command(
      `trap '' TERM HUP INT
       echo $$ >>pids
       (trap '' TERM; echo $(exec sh -c 'echo $PPID') >>pids; sleep 1000) &
       setsid sh -c 'echo $$ >>pids; sleep 1000' &
       env -i sh -c 'echo $$ >>pids; sleep 1000' &
       wait`,
    )
    const running = run()
    const pids = await pidsIn(join(workDir, 'pids'), 4)
    expect(pids.every(isRunning)).toBe(true)
    abort.abort()
    expect(await running).toMatchObject({ kind: 'aborted' })
    expect(pids.filter(isRunning)).toEqual([])
    expect(marked(id)).toEqual([])
  })

  it('that ends takes its background processes with it', async () => {
    const { run, workDir } = command(
      "sh -c 'echo $$ >>pids; exec sleep 1000' & while ! [ -s pids ]; do :; done",
    )
    expect(await run()).toMatchObject({ kind: 'exited', code: 0 })
    expect((await pidsIn(join(workDir, 'pids'), 1)).filter(isRunning)).toEqual([])
  })

  it('is ended at once when it is aborted, and not started after that', async () => {
    const { run, abort, workDir } = command('echo $$ >>pids; sleep 1000')
    const running = run()
    const pids = await pidsIn(join(workDir, 'pids'), 1)
    abort.abort()
    expect(await running).toMatchObject({ kind: 'aborted' })
    expect(pids.filter(isRunning)).toEqual([])
    expect(await run()).toMatchObject({ kind: 'aborted' })
    expect(readFileSync(join(workDir, 'pids'), 'utf8').trim().split('\n')).toHaveLength(1)
  })
})
