/** The keeper: what an agent gets on stdin, and what is known of its end, whatever happens to the daemon. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants, cpSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  attemptDir,
  closeInput,
  deliver,
  poke,
  prepare,
  readExit,
  readKeeperPid,
  readStderrTail,
  revoke,
} from '../../src/process/attempt-dir.ts'
import { keepsFolder } from '../../src/process/keeper-folder.ts'
import { endStrays } from '../../src/process/ladder.ts'
import { launch } from '../../src/process/launch.ts'
import type { ProcessIdentity } from '../../src/process/proc.ts'
import { isRunning, readProc } from '../support/processes.ts'
import {
  agentPid,
  ended,
  eventually,
  exists,
  fixture,
  marked,
  newAttempt,
  output,
  printed,
  start,
  temporarySpool,
} from './attempts.ts'

const message = (text: string) => ({ id: text, line: text })

describe('stdin', () => {
  it('is written in order, each message once however often it is queued, and then closed', async () => {
    const attempt = await start('echoes-stdin.sh', { messages: [message('b'), message('a')] })
    await printed(attempt, 'got a\n')
    for (let i = 0; i < 30; i++) await deliver(attempt.dir, message(`number-${i}`))
    for (const text of ['b', 'number-7', 'number-29']) await deliver(attempt.dir, message(text))
    await closeInput(attempt.dir)
    expect(await ended(attempt)).toEqual({ kind: 'exited', code: 0, starved: false })
    const numbers = Array.from({ length: 30 }, (_, i) => `got number-${i}\n`)
    expect(output(attempt)).toBe(`got b\ngot a\n${numbers.join('')}end of input\n`)
  })

  it('gets a message once, also if it was shorter or longer when it was first queued', async () => {
    const attempt = await start('echoes-stdin.sh')
    for (const length of [10, 5000]) await deliver(attempt.dir, { id: 'a', line: 'a'.repeat(length) })
    for (const length of [5000, 10]) await deliver(attempt.dir, { id: 'b', line: 'b'.repeat(length) })
    await closeInput(attempt.dir)
    await ended(attempt)
    expect(output(attempt)).toBe(`got ${'a'.repeat(10)}\ngot ${'b'.repeat(5000)}\nend of input\n`)
  })

  it('gets a message once that is queued twice before it is written', async () => {
    const attempt = newAttempt()
    prepare(attempt.dir, [message('a')])
    for (const id of ['a', 'b', 'b', 'c', 'a']) await deliver(attempt.dir, message(id))
    const { keeper } = await start('echoes-stdin.sh', { attempt })
    await closeInput(attempt.dir)
    await ended({ ...attempt, keeper })
    expect(output(attempt)).toBe('got a\ngot b\ngot c\nend of input\n')
  })

  it('accepts a message far larger than a pipe, and continues with the next', async () => {
    const line = 'z'.repeat(5 << 20)
    const { dir, keeper } = await start('echoes-stdin.sh', {
      program: '/bin/cat',
      messages: [{ id: 'large', line }, message('small')],
    })
    await closeInput(dir)
    expect(await ended({ dir, keeper })).toEqual({ kind: 'exited', code: 0, starved: false })
    const digest = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
    expect(digest(await readFile(dir.out))).toBe(digest(`${line}\nsmall\n`))
  })

  it('is neither closed nor lost when the process that started the agent is killed', async () => {
    const attempt = newAttempt()
    const launcher = fixture('launches-and-is-killed.mjs')
    const args = [launcher, attempt.spool, attempt.id, fixture('echoes-stdin.sh')]
    const { stdout, signal } = await new Promise<{ stdout: string; signal: string | null | undefined }>(
      (resolve) => {
        execFile(process.execPath, args, (error, out) =>
          resolve({ stdout: out, signal: (error as { signal?: string } | null)?.signal }),
        )
      },
    )
    expect(signal).toBe('SIGKILL')
    const keeper = JSON.parse(stdout) as ProcessIdentity
    await printed(attempt, 'got second\n')
    await deliver(attempt.dir, message('from another process'))
    expect(await printed(attempt, 'got from another process\n')).not.toContain('end of input')
    await closeInput(attempt.dir)
    expect(await ended({ ...attempt, keeper })).toEqual({ kind: 'exited', code: 0, starved: false })
    expect(output(attempt)).toBe('got first\ngot second\ngot from another process\nend of input\n')
  })

  it('gets a message that was written but not announced, at the next poke', async () => {
    const attempt = await start('echoes-stdin.sh')
    await deliver(attempt.dir, message('one'))
    await printed(attempt, 'got one\n')
    prepare(attempt.dir, [message('two')])
    poke(attempt.dir)
    await printed(attempt, 'got two\n')
    await closeInput(attempt.dir)
    await ended(attempt)
  })

  it('stays open when the whole group is signalled: the agent would take its end for a refusal', async () => {
    const attempt = await start('outlives-sigterm.mjs')
    await printed(attempt, 'ready')
    process.kill(-attempt.keeper.pid, 'SIGTERM')
    await printed(attempt, 'got SIGTERM\n')
    await deliver(attempt.dir, message('after it'))
    expect(await printed(attempt, 'got after it\n')).not.toContain('end of input')
    await closeInput(attempt.dir)
    expect(await ended(attempt)).toEqual({ kind: 'exited', code: 0, starved: false })
    expect(output(attempt)).toBe('ready\ngot SIGTERM\ngot after it\nend of input\n')
  })

  it('that the agent never reads blocks nothing, and no process is left when the agent has ended', async () => {
    const attempt = await start('obeys-sigterm.sh', {
      messages: [{ id: 'large', line: 'z'.repeat(1 << 20) }],
    })
    await printed(attempt, 'ready')
    await deliver(attempt.dir, message('more'))
    await eventually(() => expect(marked(attempt.id).length).toBeGreaterThanOrEqual(4))
    process.kill(-attempt.keeper.pid, 'SIGTERM')
    expect(await ended(attempt)).toEqual({ kind: 'exited', code: 143, starved: false })
    await eventually(() => expect(marked(attempt.id)).toEqual([]))
  })

  it('accepts ids with any characters without leaving its folder', async () => {
    const attempt = await start('echoes-stdin.sh')
    await deliver(attempt.dir, { id: '../../x y\n$(touch z)/*', line: 'odd' })
    await deliver(attempt.dir, { id: 'stdin.close', line: 'no end' })
    await deliver(attempt.dir, { id: '*.close', line: 'still none' })
    await printed(attempt, 'got still none\n')
    await closeInput(attempt.dir)
    await ended(attempt)
    expect(output(attempt)).toBe('got odd\ngot no end\ngot still none\nend of input\n')
    expect(await readdir(attempt.spool)).toEqual([attempt.id])
  })
})

describe('a poke', () => {
  it('is harmless if no feeder exists', async () => {
    expect(poke(attemptDir(temporarySpool(), 'att_nobody'))).toBeUndefined()
  })

  it('is harmless if very many were not read', async () => {
    const attempt = await start('obeys-sigterm.sh', {
      messages: [{ id: 'large', line: 'z'.repeat(1 << 20) }],
    })
    await printed(attempt, 'ready')
    // The feeder is stuck on the large message, so that the pipe fills.
    const fifo = await open(join(attempt.dir.path, 'poke'), constants.O_RDWR | constants.O_NONBLOCK)
    const full = Buffer.alloc(1 << 20, '\n')
    await fifo.write(full).catch(() => {})
    await fifo.write(full).catch(() => {})
    await fifo.close()
    await expect(deliver(attempt.dir, message('more'))).resolves.toBeUndefined()
    process.kill(-attempt.keeper.pid, 'SIGTERM')
    await ended(attempt)
    await endStrays(attempt.id, attempt.keeper, 1000)
  })
})

describe('the end of the agent', () => {
  it.each([0, 1, 7, 255])('with code %i is known by that code', async (code) => {
    const attempt = await start('exits-when-told.sh', { messages: [message(String(code))] })
    expect(await ended(attempt)).toEqual({ kind: 'exited', code, starved: false })
    expect(await readExit(attempt.dir)).toEqual({ code, starved: false })
  })

  it.each([
    ['SIGKILL', 137],
    ['SIGTERM', 143],
    ['SIGSEGV', 139],
  ] as const)('by %s is known as %i', async (signal, code) => {
    const attempt = await start('obeys-sigterm.sh')
    process.kill(await agentPid(attempt), signal)
    expect(await ended(attempt)).toEqual({ kind: 'exited', code, starved: false })
  })

  it('by a signal to the whole group is known too: the keeper stays until it has written the exit code', async () => {
    const attempt = await start('obeys-sigterm.sh')
    await printed(attempt, 'ready')
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(attempt.keeper.pid, signal)
    process.kill(-attempt.keeper.pid, 'SIGTERM')
    expect(await ended(attempt)).toEqual({ kind: 'exited', code: 143, starved: false })
  })

  it.each([
    ['is not there', '/nowhere/agent', 127],
    ['may not be executed', import.meta.filename, 126],
  ])('that %s is known by the code of the shell, with its message on stderr', async (_, program, code) => {
    const attempt = await start('', { program })
    expect(await ended(attempt)).toEqual({ kind: 'exited', code, starved: false })
    expect(await readStderrTail(attempt.dir)).toContain(program)
  })

  it('returns the end of its stderr, not all of it', async () => {
    const attempt = await start('fails-loudly.sh')
    expect(await ended(attempt)).toEqual({ kind: 'exited', code: 3, starved: false })
    const tail = await readStderrTail(attempt.dir)
    expect(tail.endsWith('noise 499\nError: the last word\n')).toBe(true)
    expect(tail.length).toBe(8192)
    expect(await readStderrTail(attemptDir(attempt.spool, 'att_none'))).toBe('')
  })

  it('is not known before it is written completely', async () => {
    const { dir } = newAttempt()
    prepare(dir, [])
    for (const text of ['', '\n', 'x', '1 2\n', '-1\n']) {
      await writeFile(join(dir.path, 'exit'), text)
      expect(await readExit(dir)).toBeNull()
    }
  })
})

describe('starting', () => {
  it('gives the agent its directory, its environment and its exact arguments', async () => {
    const args = ['two words', '--flag=*', '$HOME', '', "it's"]
    const attempt = await start('tells-its-surroundings.sh', { args, env: { PATH: '/bin', EXTRA: 'yes' } })
    await ended(attempt)
    expect(output(attempt).split('\n')).toEqual([
      attempt.spool,
      `marker=${attempt.id}`,
      'extra=yes',
      'home=',
      ...args.map((arg) => `arg=${arg}`),
      '',
    ])
  })

  it('puts it into a process group of its own, led by the keeper, whose pid is on disk', async () => {
    const attempt = await start('obeys-sigterm.sh')
    await printed(attempt, 'ready')
    expect(await readKeeperPid(attempt.dir)).toBe(attempt.keeper.pid)
    // The keeper also has short-lived processes.
    const groups = marked(attempt.id).flatMap((pid) => {
      const stat = readProc(pid, 'stat')
      const [state, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return stat === '' || state === 'Z' || state === 'X' ? [] : [[group, session]]
    })
    const own = String(attempt.keeper.pid)
    expect(groups.length).toBeGreaterThanOrEqual(4)
    for (const ids of groups) expect(ids).toEqual([own, own])
    process.kill(-attempt.keeper.pid, 'SIGTERM')
    await ended(attempt)
  })

  it('in a directory that does not exist is refused, and nothing is started', async () => {
    const attempt = newAttempt()
    await expect(start('obeys-sigterm.sh', { attempt, workDir: '/nowhere' })).rejects.toMatchObject({
      code: 'work-dir-unusable',
    })
    expect(marked(attempt.id)).toEqual([])
    expect(exists(join(attempt.dir.path, 'started'))).toBe(false)
  })

  it("hides the agent's input and output from other users", async () => {
    const attempt = await start('echoes-stdin.sh', { messages: [message('secret')] })
    await closeInput(attempt.dir)
    await ended(attempt)
    const { statSync } = await import('node:fs')
    expect(statSync(attempt.dir.path).mode & 0o077).toBe(0)
  })
})

describe('an attempt whose folder has been removed', () => {
  // Both at once, because a keeper looks for its folder every few seconds, and then gives its agent some.
  it('ends, with everything it has started, also if that ignores SIGTERM', async () => {
    const begin = async (script: string) => {
      const attempt = await start(script, { args: ['stays'] })
      await printed(attempt, /\n/)
      const escaped = [...output(attempt).matchAll(/escaped (\d+)/g)].map(([, pid]) => Number(pid))
      const pids = [...marked(attempt.id), ...escaped]
      expect(pids.length).toBeGreaterThan(3)
      rmSync(attempt.dir.path, { recursive: true })
      return pids
    }
    const both = await Promise.all(['leaves-everything-behind.sh', 'ignores-sigterm.sh'].map(begin))
    for (const pids of both) await eventually(() => expect(pids.filter(isRunning)).toEqual([]))
  })
})

describe('revoking', () => {
  it('before the keeper came means that the agent never runs', async () => {
    const attempt = newAttempt()
    expect(await revoke(attempt.dir)).toBe(true)
    const { keeper } = await start('tells-its-surroundings.sh', { attempt })
    await eventually(() => expect(isRunning(keeper.pid)).toBe(false))
    expect(output(attempt)).toBe('')
    expect(await readExit(attempt.dir)).toBeNull()
    expect(await revoke(attempt.dir)).toBe(false)
  })

  it('after the keeper came is too late', async () => {
    const attempt = await start('exits-when-told.sh')
    await printed(attempt, 'ready')
    expect(await revoke(attempt.dir)).toBe(false)
    await deliver(attempt.dir, message('0'))
    expect(await ended(attempt)).toEqual({ kind: 'exited', code: 0, starved: false })
  })

  it('at the same moment: exactly one of the two wins, every time', async () => {
    const spool = temporarySpool()
    const wins = { revoked: 0, ran: 0 }
    const enough = process.env.REPRISE_TEST_ALL ? 60 : 20
    // More on a busy machine, if the keeper has always been the first.
    for (let round = 0; round < enough || (wins.revoked === 0 && round < 200); round++) {
      const attempt = newAttempt(spool)
      prepare(attempt.dir, [])
      const launched = launch({
        attemptId: attempt.id,
        dir: attempt.dir,
        program: '/bin/echo',
        args: ['ran'],
        env: {},
        workDir: spool,
      })
      // Spread over the time that a keeper takes to start, so that both orders happen.
      const until = performance.now() + (round % 20) / 6
      while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve))
      const revoked = await revoke(attempt.dir)
      const keeper = await launched
      await eventually(() => expect(isRunning(keeper.pid)).toBe(false))
      expect(output(attempt)).toBe(revoked ? '' : 'ran\n')
      expect((await readExit(attempt.dir))?.code ?? null).toBe(revoked ? null : 0)
      wins[revoked ? 'revoked' : 'ran']++
    }
    process.stdout.write(`revoke race: ${JSON.stringify(wins)}\n`)
    expect(wins.revoked).toBeGreaterThan(0)
  })

  it('two daemons at once: one of them', async () => {
    const { dir } = newAttempt()
    await mkdir(dir.path)
    const answers = await Promise.all(Array.from({ length: 8 }, () => revoke(dir)))
    expect(answers.filter(Boolean)).toHaveLength(1)
  })
})

it('is known to keep its folder by any path, and not to keep a copy of it', async () => {
  const attempt = await start('echoes-stdin.sh', { messages: [message('a')] })
  // The folder is exchanged for a copy: until the agent has read a line, the keeper is still opening files there.
  await printed(attempt, 'got a\n')
  const at = (path: string) => ({ ...attempt.dir, path })
  const { path } = attempt.dir
  const [link, moved, copy] = [`${path}-link`, `${path}-moved`, `${path}-copy`]
  symlinkSync(path, link)
  cpSync(join(path, 'keeper.log'), join(copy, 'keeper.log'))
  const kept = () => [path, link, moved, copy].map((one) => keepsFolder(attempt.keeper, at(one)))
  const known = kept()
  renameSync(path, moved)
  renameSync(copy, path)
  const afterwards = [path, moved].map((one) => keepsFolder(attempt.keeper, at(one)))
  renameSync(path, copy)
  renameSync(moved, path)
  await closeInput(attempt.dir)
  await ended(attempt)
  expect(known).toEqual([true, true, true, false])
  expect(afterwards).toEqual([false, true])
})

it('is known to keep its folder also while its shell is starting and moves its descriptors about', async () => {
  for (let round = 0; round < 40; round++) {
    const attempt = await start('echoes-stdin.sh')
    const answers = Array.from({ length: 60 }, () => keepsFolder(attempt.keeper, attempt.dir))
    await closeInput(attempt.dir)
    await ended(attempt)
    expect(answers).not.toContain(false)
  }
})
