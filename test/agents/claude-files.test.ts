/** Transcripts and live processes of the CLI, as they are on disk. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configDirOf } from '../../src/agents/claude/config-dir.ts'
import { hasClaudeCredentials } from '../../src/agents/claude/credentials.ts'
import { findClaudeHolders } from '../../src/agents/claude/holder.ts'
import { inspectClaudeTranscript } from '../../src/agents/claude/transcript.ts'
import { readMarker } from '../../src/process/proc.ts'
import { temporaryDir } from './temporary-dir.ts'

const WORK_DIR = '/srv/project'
const ID = '11111111-2222-4333-8444-555555555555'
const MESSAGE = '99999999-8888-4777-8666-555555555555'
const user = (uuid = 'u') => JSON.stringify({ type: 'user', message: { role: 'user', content: 'hi' }, uuid })
const other = '{"type":"queue-operation","operation":"enqueue"}'

function withTranscript(text: string | null, name = `${ID}.jsonl`, slug = '-srv-project') {
  const dir = temporaryDir()
  const path = join(dir, 'projects', slug, name)
  mkdirSync(dirname(path), { recursive: true })
  if (text !== null) writeFileSync(path, text)
  const env = { CLAUDE_CONFIG_DIR: dir }
  return {
    dir,
    path,
    env,
    inspect: (messageId: string | null = null) =>
      inspectClaudeTranscript(ID, env, { workDir: WORK_DIR, messageId }),
  }
}

describe('a transcript', () => {
  it('is present when it has a message, with its path and size', async () => {
    const { path, inspect } = withTranscript(`${other}\n${user()}\n`)
    expect(await inspect()).toEqual({
      state: 'present',
      path,
      bytes: readFileSync(path).length,
      hasMessage: false,
      outside: [],
    })
  })

  it.each([
    ['an empty one', ''],
    ['garbage', 'not json\n\u0000\u0001\n'],
    ['one in which nobody has spoken', `${other}\n`],
    ['one whose only message is torn', user().slice(0, -5)],
    ['one that only looks like it', '{"type":"user","message":"text"}\n"\\"type\\":\\"user\\""\n'],
  ])('is unreadable: %s', async (_, text) => {
    expect(await withTranscript(text).inspect()).toMatchObject({ state: 'unreadable' })
  })

  it('with an incomplete last line is torn: the CLI skips that line', async () => {
    const { inspect } = withTranscript(`${user()}\n${user(MESSAGE).slice(0, -5)}`)
    expect(await inspect(MESSAGE)).toMatchObject({ state: 'torn', hasMessage: false })
  })

  it('with a complete last line without a newline is read to its end, as the CLI does', async () => {
    expect(await withTranscript(user(MESSAGE)).inspect(MESSAGE)).toMatchObject({
      state: 'present',
      hasMessage: true,
    })
  })

  it('that does not exist is missing', async () => {
    const missing = { state: 'missing', path: null, bytes: null, hasMessage: false, outside: [] }
    expect(await withTranscript(null).inspect()).toEqual(missing)
    expect(
      await inspectClaudeTranscript(ID, { CLAUDE_CONFIG_DIR: '/nowhere' }, { workDir: WORK_DIR }),
    ).toEqual(missing)
  })

  it('that is a folder is missing', async () => {
    const { path, inspect } = withTranscript(null)
    mkdirSync(path)
    expect(await inspect()).toMatchObject({ state: 'missing' })
  })

  it('is found whatever directory it was created in', async () => {
    expect(await withTranscript(`${user()}\n`, `${ID}.jsonl`, '-some-where-else').inspect()).toMatchObject({
      state: 'present',
    })
  })

  it('reports whether it contains a message, by the message id', async () => {
    const nested = JSON.stringify({ type: 'assistant', message: {}, uuid: MESSAGE, parentUuid: 'x' })
    const mentioned = JSON.stringify({
      type: 'user',
      message: { content: MESSAGE },
      uuid: 'u',
      parentUuid: MESSAGE,
    })
    const lines = Array.from({ length: 3000 }, (_, i) => user(`u${i}`.padEnd(300, '.')))
    const without = withTranscript([user(), nested, mentioned, ...lines, ''].join('\n'))
    expect(await without.inspect(MESSAGE)).toMatchObject({ state: 'present', hasMessage: false })
    const withIt = withTranscript([user(), ...lines, user(MESSAGE), ''].join('\n'))
    expect(await withIt.inspect(MESSAGE)).toMatchObject({ hasMessage: true })
  })

  it('contains a message that was taken in the middle of a turn, but not one that was only queued', async () => {
    const queued = JSON.stringify({ type: 'queue-operation', operation: 'remove', commandUuid: MESSAGE })
    const taken = JSON.stringify({
      type: 'attachment',
      attachment: { type: 'queued_command', prompt: 'mind the step', source_uuid: MESSAGE },
      uuid: 'a',
      parentUuid: 'u',
    })
    const without = withTranscript(`${user()}\n${queued}\n`)
    expect(await without.inspect(MESSAGE)).toMatchObject({ hasMessage: false })
    const withIt = withTranscript(`${user()}\n${taken}\n${queued}\n`)
    expect(await withIt.inspect(MESSAGE)).toMatchObject({ hasMessage: true })
  })

  it.each([
    '../../secret',
    '..',
    '*',
    `${ID}/../x`,
    '',
    'title of a session',
    `${ID}\n`,
    `-${ID.slice(1)}\0`,
  ])('is never searched for by an invalid id: %j', async (id) => {
    const { dir, env } = withTranscript(`${user()}\n`)
    writeFileSync(join(dir, 'secret.jsonl'), `${user()}\n`)
    mkdirSync(join(dir, 'projects', 'p'))
    writeFileSync(join(dir, 'projects', 'p', `${id.replace(/[^\w]/g, '_')}.jsonl`), `${user()}\n`)
    expect(await inspectClaudeTranscript(id, env, { workDir: WORK_DIR })).toMatchObject({
      state: 'missing',
      path: null,
    })
  })

  it('is in the directory that the environment names', () => {
    expect(configDirOf({ CLAUDE_CONFIG_DIR: '/a', HOME: '/h' })).toBe('/a')
    expect(configDirOf({ HOME: '/h' })).toBe('/h/.claude')
  })
})

describe('the holders of a session', () => {
  const startOf = (pid: number) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  }

  async function sleeper(): Promise<number> {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    await new Promise((resolve) => child.once('spawn', resolve))
    return child.pid ?? 0
  }

  function registered(...records: (object | string)[]) {
    const dir = temporaryDir()
    mkdirSync(join(dir, 'sessions'))
    for (const [i, record] of records.entries()) {
      const text = typeof record === 'string' ? record : JSON.stringify(record)
      writeFileSync(join(dir, 'sessions', `${i}.json`), text)
    }
    writeFileSync(join(dir, 'sessions', '1.abc.key'), JSON.stringify({ sessionId: ID, pid: process.pid }))
    return findClaudeHolders(ID, { CLAUDE_CONFIG_DIR: dir }).then((holders) => holders.map(({ pid }) => pid))
  }

  it('are live processes that have registered, among records of others and broken ones', async () => {
    const pid = await sleeper()
    const others = [{ sessionId: 'other', pid: process.pid }, 'torn {', '[]', { sessionId: ID, pid: 'x' }]
    expect(await registered(...others, { sessionId: ID, pid, procStart: startOf(pid) })).toEqual([pid])
    expect(await registered({ sessionId: ID, pid })).toEqual([pid])
  })

  it('are none when the process has ended', async () => {
    const child = spawn('true')
    await new Promise((resolve) => child.once('exit', resolve))
    expect(await registered({ sessionId: ID, pid: child.pid, procStart: '1' })).toEqual([])
    expect(await registered({ sessionId: ID, pid: child.pid })).toEqual([])
  })

  it('are none when the pid belongs to another process now', async () => {
    const pid = await sleeper()
    expect(await registered({ sessionId: ID, pid, procStart: String(Number(startOf(pid)) - 1) })).toEqual([])
  })

  it('are none when the process is a zombie', async () => {
    // After exec it is no shell any more and never waits for its child, which becomes a zombie.
    const shell = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 61'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => {
      shell.kill('SIGKILL')
    })
    const pid = await new Promise<number>((resolve) => shell.stdout.once('data', (d) => resolve(Number(d))))
    const patiently = { timeout: 90_000 }
    await expect.poll(() => readFileSync(`/proc/${shell.pid}/comm`, 'utf8'), patiently).toBe('sleep\n')
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), patiently).toContain(') Z ')
    expect(await registered({ sessionId: ID, pid, procStart: startOf(pid) })).toEqual([])
  })

  it('can be read until they end: none has lost what it was started with', async () => {
    const child = spawn(
      process.execPath,
      ['-e', 'const held = Buffer.alloc(200 << 20, 1); console.log(held.length); setInterval(() => {}, 1e6)'],
      { stdio: ['ignore', 'pipe', 'ignore'], env: { REPRISE_ATTEMPT: 'att_1' } },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const { pid = 0 } = child
    child.kill('SIGKILL')
    for (let found = [pid]; found.length > 0; ) {
      // A process that has lost its environment is not found afterwards.
      const isKnown = readMarker(pid) === 'att_1'
      found = await registered({ sessionId: ID, pid })
      if (!isKnown) expect(found).toEqual([])
    }
  })

  it('are none when there are no records', async () => {
    expect(await findClaudeHolders(ID, { CLAUDE_CONFIG_DIR: '/nowhere' })).toEqual([])
  })
})

describe('credentials', () => {
  it('are a key in the environment, a login on disk or a helper', async () => {
    const dir = temporaryDir()
    const env = { CLAUDE_CONFIG_DIR: dir }
    expect(await hasClaudeCredentials(env)).toBe(false)
    for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']) {
      expect(await hasClaudeCredentials({ ...env, [name]: 'x' })).toBe(true)
      expect(await hasClaudeCredentials({ ...env, [name]: '' })).toBe(false)
    }
    writeFileSync(join(dir, 'settings.json'), '{ broken')
    expect(await hasClaudeCredentials(env)).toBe(false)
    writeFileSync(join(dir, 'settings.json'), '{"apiKeyHelper":"/bin/key"}')
    expect(await hasClaudeCredentials(env)).toBe(true)
    const loggedIn = temporaryDir()
    symlinkSync('/dev/null', join(loggedIn, '.credentials.json'))
    expect(await hasClaudeCredentials({ CLAUDE_CONFIG_DIR: loggedIn })).toBe(true)
  })
})
