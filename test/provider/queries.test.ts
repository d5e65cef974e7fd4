/** The provider on agents in memory: which way a query takes, what its caller sees, and what is left when it is over. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldSessionSummary, listSessions } from '@anthropic-ai/claude-agent-sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConversationHistory } from '../../src/provider/conversation-history.ts'
import type { PersistedSession } from '../../src/provider/history.ts'
import type { ErrorMessage, ProviderMessage, ResultMessage } from '../../src/provider/message.ts'
import type { ExecuteOptions } from '../../src/provider/options.ts'
import { type Provider, provideOn } from '../../src/provider/provider.ts'
import { createSessionStore } from '../../src/provider/session-store.ts'
import { answers, dies, exits, hangs, type Script } from '../support/memory/script.ts'
import { Stage, type StageOptions } from '../support/memory/stage.ts'

let stage: Stage
let provider: Provider
let dataDir: string

async function open(options: StageOptions = {}): Promise<void> {
  stage = await Stage.open(options)
  provider = await provide()
}

async function reopen(options: StageOptions): Promise<void> {
  await provider.close()
  await stage.close()
  await open(options)
}

const provide = (agent?: string) =>
  provideOn(
    {
      engine: stage.engine,
      home: dataDir,
      log: { info: () => {}, warn: () => {}, error: () => {}, redactWith: () => {} },
      close: async () => {},
    },
    { agent },
  )

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'reprise-provider-'))
  await open()
})
afterEach(async () => {
  await provider.close()
  await stage.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const query = (options: Partial<ExecuteOptions> = {}) =>
  provider.executeQuery({ prompt: 'hello', cwd: stage.workDir, ...options })

async function all(messages: AsyncIterable<ProviderMessage>): Promise<ProviderMessage[]> {
  const list = []
  for await (const message of messages) list.push(message)
  return list
}

const kinds = (messages: readonly ProviderMessage[]) =>
  messages.map(({ type, subtype }) => (typeof subtype === 'string' ? `${type}/${subtype}` : type))

const last = (messages: readonly ProviderMessage[]) => messages.at(-1) as ResultMessage

const HISTORY = [
  { role: 'user', content: 'What is the code word?' },
  { role: 'assistant', content: [{ type: 'text', text: 'It is zebra.' }] },
] as const

/** Makes a session with one turn and returns its id. */
async function makeSession(): Promise<string> {
  stage.play(answers('It is zebra.'))
  const [init] = await all(query({ prompt: 'What is the code word?' }))
  return init?.session_id ?? ''
}

const resume = (id: string, options: Partial<ExecuteOptions> = {}) =>
  query({ prompt: 'Say it again.', sdkSessionId: id, conversationHistory: HISTORY, ...options })

const alive = () => stage.processes.all().filter((process) => process.alive).length
const starts = () =>
  stage.processes.starts().map(({ resume, agentSessionId }) => ({ resume, agentSessionId }))
const given = () => stage.processes.starts().at(-1)?.prompt.join('\n') ?? ''

describe('a session is resumed', () => {
  it('if its id and a history are given: only the prompt is sent', async () => {
    const id = await makeSession()
    const again = resume(id)
    expect(kinds(await all(again))).toEqual(['system/init', 'assistant', 'result/success'])
    expect(starts()).toEqual([
      { resume: false, agentSessionId: id },
      { resume: true, agentSessionId: id },
    ])
    expect(given()).toBe('Say it again.')
    expect(again.taken).toEqual({ way: 'resumed', sessionId: id })
  })

  it.each([
    ['without a history', {}],
    ['with an empty history', { conversationHistory: [] }],
  ])('not %s', async (_, options) => {
    const id = await makeSession()
    const other = query({ sdkSessionId: id, ...options })
    await all(other)
    expect(starts().at(-1)?.resume).toBe(false)
    expect(given()).toBe('hello')
    expect(other.taken).toMatchObject({ way: 'fresh', reason: 'no-history' })
  })

  it('not without its id: a new session gets the history', async () => {
    await all(query({ conversationHistory: HISTORY }))
    expect(given()).toMatch(/What is the code word\?.*It is zebra\..*hello$/s)
  })
})

describe('a session that cannot be resumed is replaced, with the history', () => {
  const WAYS: [string, string, (id: string) => void | Promise<void>][] = [
    ['its file is gone', 'transcript-missing', (id) => stage.transcripts.remove(id)],
    ['its file is damaged', 'transcript-broken', (id) => stage.transcripts.damage(id, 'broken')],
    ['its file cannot be read', 'transcript-unreadable', (id) => stage.transcripts.damage(id, 'unreadable')],
    ['another process holds it', 'session-in-use', (id) => stage.transcripts.hold(id, 4711)],
    ['it is too old', 'expired', () => stage.clock.advance(30 * 86_400_000)],
    ['the agent refuses it', 'refused', () => stage.play(exits(1, 'no such session'))],
  ]
  it.each(WAYS)('%s', async (_, reason, spoil) => {
    const id = await makeSession()
    await spoil(id)
    const again = resume(id)
    const messages = await all(again)
    expect(kinds(messages)).toEqual(['system/init', 'assistant', 'result/success'])
    expect(again.taken).toMatchObject({ way: 'fresh', reason })
    expect(again.taken?.sessionId).not.toBe(id)
    expect(messages[0]?.session_id).toBe(again.taken?.sessionId)
    expect(given()).toMatch(/What is the code word\?.*It is zebra\..*Say it again\.$/s)
  })

  it('it is unknown', async () => {
    const again = await provider.safeResume('3f1f7b1e-0000-4000-8000-000000000000', 'Say it again.', {
      cwd: stage.workDir,
      conversationHistory: HISTORY,
    })
    expect(again.taken).toMatchObject({
      way: 'fresh',
      reason: 'unknown-session',
      message: 'there is no such session',
    })
    expect(kinds(await all(again))).toEqual(['system/init', 'assistant', 'result/success'])
    expect(given()).toMatch(/zebra.*Say it again\.$/s)
  })

  it('it belongs to another agent', async () => {
    const id = await makeSession()
    provider = await provide('other')
    const again = resume(id)
    await all(again)
    expect(again.taken).toMatchObject({ way: 'fresh', reason: 'other-agent' })
    expect(given()).toMatch(/zebra/)
  })

  it('it is of another directory', async () => {
    const id = await makeSession()
    const again = resume(id, { cwd: dataDir })
    await all(again)
    expect(again.taken).toMatchObject({ way: 'fresh', reason: 'other-work-dir' })
    expect(given()).toMatch(/zebra/)
  })

  it('it belongs to a conversation', async () => {
    const { id: conversation } = await stage.engine.createConversation({ workDir: stage.workDir })
    const { run } = (await stage.engine.createTurn(conversation, { text: 'hi' }, null)) as {
      run: { id: string }
    }
    const { sessionId } = await stage.settled(run.id)
    const again = resume(sessionId ?? '')
    await all(again)
    expect(again.taken).toMatchObject({ way: 'fresh', reason: 'in-conversation' })
    expect(given()).toMatch(/zebra/)
  })

  it('once: if the new one fails too, the query ends with that failure', async () => {
    await reopen({ config: { resume: { maxResumes: 0 } } })
    const id = await makeSession()
    stage.play(exits(1, 'broken'), exits(1, 'broken'))
    const messages = await all(resume(id))
    expect(kinds(messages)).toEqual(['result/error_during_execution'])
    expect((last(messages) as ErrorMessage).errors[0]).toMatch(/exited with 1/)
    expect(
      starts()
        .slice(1)
        .map(({ resume }) => resume),
    ).toEqual([true, false])
  })

  it('also when that shows only after messages have come', async () => {
    const id = await makeSession()
    const refusesHistory: Script = async (agent) => {
      await agent.begin()
      agent.finish('thinking blocks are invalid', {
        outcome: { name: 'api-error', message: '400', historyRefused: true },
      })
      return agent.leave()
    }
    stage.play(refusesHistory, answers('It is zebra, as I said.'))
    const again = await provider.safeResume(id, 'Say it again.', { cwd: stage.workDir })
    expect(again.taken).toMatchObject({ way: 'resumed', sessionId: id })
    const messages = await all(again)
    expect(kinds(messages)).toEqual([
      'system/init',
      'assistant',
      'system/init',
      'assistant',
      'result/success',
    ])
    expect(again.taken).toMatchObject({ way: 'fresh', reason: 'poisoned' })
    expect(given()).toMatch(/zebra.*Say it again\.$/s)
  })
})

it('safeResume takes the history that is stored, if none is given', async () => {
  const id = await makeSession()
  stage.transcripts.remove(id)
  const again = await provider.safeResume(id, 'Say it again.', { cwd: stage.workDir })
  expect(again.taken).toMatchObject({ way: 'fresh', reason: 'transcript-missing' })
  await all(again)
  expect(given()).toMatch(/What is the code word\?.*It is zebra\..*Say it again\.$/s)
})

describe('what the caller sees', () => {
  it('parts of an answer only if they are asked for', async () => {
    const streams: Script = async (agent) => {
      await agent.begin()
      agent.print({ type: 'text-delta', text: 'Hel' }, { type: 'text-delta', text: 'lo' })
      agent.finish('Hello')
      return agent.leave()
    }
    stage.play(streams, streams)
    expect(kinds(await all(query()))).not.toContain('stream_event')
    const parts = await all(query({ includePartialMessages: true }))
    expect(kinds(parts).filter((kind) => kind === 'stream_event')).toHaveLength(2)
  })

  it('nothing of an attempt that crashed but its messages, and one result', async () => {
    stage.play(dies(1), answers('Here.'))
    expect(kinds(await all(query()))).toEqual(['system/init', 'system/init', 'assistant', 'result/success'])
  })

  it('an error as a result, not as an exception', async () => {
    stage.play(answers('over', { outcome: { name: 'turn-limit', message: 'Reached the limit' } }))
    expect(last(await all(query({ maxTurns: 1 })))).toMatchObject({ is_error: true, type: 'result' })
  })

  it('a result if the agent printed none', async () => {
    await reopen({ config: { resume: { maxResumes: 0 } } })
    stage.play(dies(9))
    const result = last(await all(query()))
    expect(result).toMatchObject({ subtype: 'error_during_execution', is_error: true, stop_reason: null })
    expect(result.session_id).toBe(starts()[0]?.agentSessionId)
  })
})

describe('a query that is left', () => {
  it('by break ends its process', async () => {
    stage.play(hangs)
    for await (const message of query()) {
      expect(message.type).toBe('system')
      break
    }
    expect(alive()).toBe(0)
  })

  it('by an error in the loop ends its process', async () => {
    stage.play(hangs)
    const failing = async () => {
      for await (const _ of query()) throw new Error('mine')
    }
    await expect(failing()).rejects.toThrow('mine')
    expect(alive()).toBe(0)
  })

  it('by return ends its process, also while a message is waited for', async () => {
    stage.play(hangs)
    const left = query()
    await left.next()
    const waiting = left.next()
    await left.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(alive()).toBe(0)
  })

  it('by its signal ends its process and reports an abort', async () => {
    stage.play(hangs)
    const controller = new AbortController()
    const left = query({ abortSignal: controller.signal })
    await left.next()
    const waiting = left.next()
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    expect(alive()).toBe(0)
  })

  it('before it began starts nothing', async () => {
    const left = query({ abortSignal: AbortSignal.abort() })
    await expect(left.next()).rejects.toMatchObject({ name: 'AbortError' })
    await query().return()
    expect(starts()).toEqual([])
  })

  it('in the queue starts nothing', async () => {
    await reopen({ settings: { concurrency: 1 } })
    stage.play(hangs)
    const first = query()
    await first.next()
    const controller = new AbortController()
    const waiting = query({ abortSignal: controller.signal }).next()
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    await first.return()
    expect(starts()).toHaveLength(1)
  })

  it('by the close of the provider ends its process, and no other begins', async () => {
    stage.play(hangs)
    const left = query()
    await left.next()
    await provider.close()
    expect(alive()).toBe(0)
    expect(await left.next()).toEqual({ done: true, value: undefined })
    await expect(query().next()).rejects.toMatchObject({ code: 'closed' })
  })

  it('by the death of its program is ended by the next provider', async () => {
    stage.play(hangs)
    await query().next()
    await stage.drop()
    await stage.reopen()
    expect(alive()).toBe(1)
    provider = await provide()
    expect(alive()).toBe(0)
  })
})

it('two queries in one session are served in order', async () => {
  const id = await makeSession()
  const gate = Promise.withResolvers<void>()
  const slow: Script = async (agent) => {
    await agent.begin()
    await gate.promise
    agent.finish('first')
    return agent.leave()
  }
  stage.play(slow, answers('second'))
  const ended: string[] = []
  const ask = async (prompt: string) => {
    await all(resume(id, { prompt }))
    ended.push(prompt)
  }
  const first = ask('one')
  await stage.until(() => starts().length === 2)
  const second = ask('two')
  gate.resolve()
  await Promise.all([first, second])
  expect(ended).toEqual(['one', 'two'])
  expect(starts().slice(1)).toEqual([
    { resume: true, agentSessionId: id },
    { resume: true, agentSessionId: id },
  ])
})

describe('canUseTool', () => {
  const asking: Script = async (agent) => {
    await agent.begin()
    const answer = await agent.ask('Bash', { command: 'make' })
    agent.finish(JSON.stringify(answer))
    return agent.leave()
  }
  const replyTo = async (canUseTool: ExecuteOptions['canUseTool'], script = asking) => {
    stage.play(script)
    const messages = await all(query({ canUseTool }))
    const result = last(messages)
    return JSON.parse(result.subtype === 'success' ? result.result : 'null')
  }

  it('is told what is asked, and its answer reaches the agent', async () => {
    const asked: unknown[] = []
    const reply = await replyTo((tool, input, { signal, toolUseID }) => {
      asked.push([tool, input, signal.aborted, typeof toolUseID])
      return {
        behavior: 'allow',
        updatedInput: { command: 'make test' },
        updatedPermissions: [{ type: 'x' }],
      }
    })
    expect(asked).toEqual([['Bash', { command: 'make' }, false, 'string']])
    expect(reply).toMatchObject({
      decision: 'allow',
      updatedInput: { command: 'make test' },
      native: { updatedPermissions: [{ type: 'x' }] },
    })
  })

  it('denies with its message', async () => {
    const reply = await replyTo(async () => ({ behavior: 'deny', message: 'not now', interrupt: true }))
    expect(reply).toMatchObject({ decision: 'deny', message: 'not now', native: { interrupt: true } })
  })

  it('denies if it fails, or returns nonsense', async () => {
    expect(await replyTo(() => Promise.reject(new Error('oh')))).toMatchObject({
      decision: 'deny',
      message: expect.stringContaining('oh'),
    })
    expect(await replyTo((() => 'yes') as never)).toMatchObject({ decision: 'deny' })
  })

  it('answers questions', async () => {
    const question: Script = async (agent) => {
      await agent.begin()
      agent.finish(JSON.stringify(await agent.askUser('Which one?', 'red', 'blue')))
      return agent.leave()
    }
    const reply = await replyTo(
      (_, input) => ({ behavior: 'allow', updatedInput: { ...input, answers: { 'Which one?': 'blue' } } }),
      question,
    )
    expect(reply).toMatchObject({ answers: { 'Which one?': 'blue' } })
  })
})

describe('executeWithContinuation', () => {
  const limited: Script = async (agent) => {
    await agent.begin()
    agent.useTool('Bash', { command: 'ls' }, 'a')
    agent.print({
      type: 'turn-end',
      outcome: { name: 'turn-limit', message: 'limit' },
      turns: agent.start.maxTurns ?? 0,
    })
    return agent.leave()
  }
  const go = (options: { maxTurns?: number; turnsPerContinuation?: number } = {}) =>
    provider.executeWithContinuation({ prompt: 'work', cwd: stage.workDir, ...options })

  it('resumes after a turn limit until the model has finished', async () => {
    stage.play(limited, limited, answers('Finished.'))
    const work = go({ maxTurns: 10, turnsPerContinuation: 2 })
    const messages = await all(work)
    expect(kinds(messages).filter((kind) => kind.startsWith('result'))).toEqual([
      'result/error_turn-limit',
      'result/error_turn-limit',
      'result/success',
    ])
    expect(starts().map(({ resume }) => resume)).toEqual([false, true, true])
    expect(work.state).toMatchObject({ currentTurn: 5, maxTurns: 10, toolCalls: 2, continuations: 2 })
  })

  it('stops when maxTurns turns were taken in all', async () => {
    stage.play(limited, limited, limited, limited)
    const work = go({ maxTurns: 5, turnsPerContinuation: 2 })
    expect(last(await all(work))).toMatchObject({ is_error: true })
    expect(stage.processes.starts().map(({ maxTurns }) => maxTurns)).toEqual([2, 2, 1])
    expect(work.state.currentTurn).toBe(5)
  })

  it('continues an answer that was cut off, in the same session', async () => {
    const cutOff: Script = async (agent) => {
      await agent.begin()
      agent.print(
        { type: 'text-end', text: 'Once upon' },
        { type: 'turn-end', outcome: { name: 'completed', message: '' }, turns: 1, stopReason: 'max_tokens' },
      )
      return agent.leave()
    }
    stage.play(cutOff, answers('a time.'))
    const work = go()
    await all(work)
    expect(starts().map(({ resume }) => resume)).toEqual([false, true])
    expect(work.state).toMatchObject({ currentTurn: 2, continuations: 1 })
  })

  it('ends its process when it is left', async () => {
    stage.play(hangs)
    for await (const _ of go()) break
    expect(alive()).toBe(0)
  })
})

describe('the stored session', () => {
  const stored = (id: string): PersistedSession =>
    JSON.parse(readFileSync(join(dataDir, 'agent-sessions', id, 'session.json'), 'utf8'))

  it('is written after each query, with its messages and figures', async () => {
    const working: Script = async (agent) => {
      await agent.begin()
      agent.useTool('Bash', { command: 'ls' }, 'a.txt')
      agent.finish('There is a.txt.')
      return agent.leave()
    }
    stage.play(working)
    const [init] = await all(query({ prompt: 'look' }))
    const id = init?.session_id ?? ''
    await all(resume(id))
    const { metadata, messages } = stored(id)
    expect(messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
      ['user', 'text'],
      ['assistant', 'tool_use'],
      ['user', 'tool_result'],
      ['assistant', 'text'],
      ['user', 'text'],
      ['assistant', 'text'],
    ])
    expect(messages[2]?.content[0]?.tool_result).toMatchObject({ content: 'a.txt' })
    expect(messages.every(({ timestamp }) => !Number.isNaN(Date.parse(timestamp ?? '')))).toBe(true)
    expect(metadata).toMatchObject({
      id,
      cwd: stage.workDir,
      messageCount: 6,
      turnCount: 2,
      totalInputTokens: 200,
      totalOutputTokens: 20,
    })
    expect(provider.sessions.get(id)).toMatchObject({ sessionId: id, messageCount: 4 })
  })

  it('begins with the history that it was started with', async () => {
    await all(query({ conversationHistory: HISTORY }))
    const [id = ''] = provider.sessions.keys()
    expect(stored(id).messages.map(({ content }) => content[0]?.text)).toEqual([
      'What is the code word?',
      'It is zebra.',
      'hello',
      'done',
    ])
  })

  it('can be given to the next query', async () => {
    const id = await makeSession()
    stage.transcripts.remove(id)
    await all(resume(id, { conversationHistory: await provider.reconstructContext(id) }))
    expect(given()).toMatch(/zebra/)
  })
})

describe('reconstructContext', () => {
  it('leaves out results about files that have changed since, and old ones, and says so', async () => {
    const [kept, changed] = [join(stage.workDir, 'kept'), join(stage.workDir, 'changed')]
    const writes: Script = async (agent) => {
      await agent.begin()
      for (const path of [kept, changed]) {
        writeFileSync(path, 'one')
        agent.useTool('Write', { file_path: path, content: 'one' }, `wrote ${path}`)
      }
      agent.useTool('Bash', { command: 'date' }, 'today')
      agent.finish('done')
      return agent.leave()
    }
    stage.play(writes)
    const [init] = await all(query())
    const id = init?.session_id ?? ''
    expect((await provider.reconstructContext(id)).dropped).toEqual([])

    writeFileSync(changed, 'two')
    stage.clock.advance(31 * 60_000)
    const context = await provider.reconstructContext(id)
    expect(context.dropped).toMatchObject([
      { tool: 'Write', path: changed, reason: `${changed} has changed since` },
      { tool: 'Bash', reason: expect.stringMatching(/^it is 31m.* old$/) },
    ])
    const results = context.flatMap(({ content }) => content.flatMap((b) => b.tool_result?.content ?? []))
    expect(results).toEqual([
      `wrote ${kept}`,
      expect.stringMatching(/^\[left out: /),
      expect.stringMatching(/^\[left out: /),
    ])
  })

  it('is empty for a session that nobody knows', async () => {
    expect(await provider.reconstructContext('no-such-session')).toHaveLength(0)
  })
})

describe('the session store for the Agent SDK', () => {
  const key = { projectKey: 'project', sessionId: 'session' }
  const entry = (uuid: string | undefined, text: string) => ({
    type: 'user',
    ...(uuid === undefined ? {} : { uuid }),
    text,
  })

  it('returns what was appended, in order, each uuid once', async () => {
    const { sessionStore } = provider
    expect(await sessionStore.load(key)).toBeNull()
    await sessionStore.append(key, [entry('1', 'a'), entry(undefined, 'title')])
    await sessionStore.append(key, [entry('1', 'a'), entry('2', 'b'), entry(undefined, 'title')])
    expect((await sessionStore.load(key))?.map(({ text }) => text)).toEqual(['a', 'title', 'b', 'title'])
  })

  it('keeps secrets, because the SDK must get back what it gave', async () => {
    const secret = entry('1', 'ANTHROPIC_API_KEY=sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')
    await provider.sessionStore.append(key, [secret])
    expect(await provider.sessionStore.load(key)).toEqual([secret])
  })

  it('lists sessions and the transcripts of sub-agents, and deletes them together', async () => {
    const { sessionStore } = provider
    await sessionStore.append(key, [entry('1', 'a')])
    await sessionStore.append({ ...key, subpath: 'subagents/x' }, [entry('1', 'nested')])
    await sessionStore.append({ ...key, projectKey: 'other' }, [entry('1', 'c')])
    expect(await sessionStore.listSessions('project')).toEqual([
      { sessionId: 'session', mtime: expect.any(Number) },
    ])
    expect(await sessionStore.listSubkeys(key)).toEqual(['subagents/x'])
    await sessionStore.delete(key)
    expect(await sessionStore.load(key)).toBeNull()
    expect(await sessionStore.listSubkeys(key)).toEqual([])
    expect(await sessionStore.load({ ...key, projectKey: 'other' })).toHaveLength(1)
  })
})

it('the SDK lists the sessions of the store by their summaries, and loads only what has changed', async () => {
  const loads: string[] = []
  const { transcripts } = stage.engine
  const counting: typeof transcripts = {
    ...transcripts,
    loadTranscript: (key) => {
      loads.push(key.sessionId)
      return transcripts.loadTranscript(key)
    },
  }
  const sessionStore = createSessionStore({ transcripts: counting }, foldSessionSummary)
  const projectKey = stage.workDir.replace(/[^a-zA-Z0-9]/g, '-')
  const ids = [randomUUID(), randomUUID()]
  const say = (sessionId: string, content: string) =>
    sessionStore.append({ projectKey, sessionId }, [
      {
        type: 'user',
        uuid: randomUUID(),
        timestamp: new Date().toISOString(),
        sessionId,
        cwd: stage.workDir,
        message: { role: 'user', content },
      },
    ])
  for (const id of ids) await say(id, `first words of ${id}`)
  const list = async () =>
    (await listSessions({ sessionStore, dir: stage.workDir })).map(({ firstPrompt }) => firstPrompt).sort()
  expect(await list()).toEqual(ids.map((id) => `first words of ${id}`).sort())
  await list()
  expect(loads.sort()).toEqual([...ids].sort())
  const { mtime = 0 } = (await sessionStore.listSessions(projectKey))[0] ?? {}
  while (Date.now() <= mtime) await new Promise(setImmediate)
  await say(ids[0]!, 'more')
  await list()
  expect(loads).toHaveLength(3)
})

it('variables of a query are not stored', async () => {
  stage.play(answers('done'))
  await all(query({ env: { SECRET_OF_MINE: 'hush-hush' } }))
  const [run] = (await stage.store.listRuns({ limit: 1 })).items
  expect(JSON.stringify(run)).not.toContain('hush-hush')
})

describe('bad input', () => {
  it.each([
    [{ prompt: 7 }, /prompt/],
    [{ prompt: '  ' }, /not empty/],
    [{ maxTurns: 0 }, /maxTurns/],
    [{ model: '--settings=x' }, /model/],
    [{ permissionMode: 'sudo' }, /permissionMode/],
    [{ canUseTool: true }, /canUseTool/],
    [{ abortSignal: {} }, /abortSignal/],
    [{ conversationHistory: [{ role: 'system', content: 'x' }] }, /conversationHistory\[0\]\.role/],
    [{ conversationHistory: [{ role: 'user', content: 5 }] }, /conversationHistory\[0\]\.content/],
    [{ colour: 'red' }, /colour/],
  ])('%j is refused by name', (options, message) => {
    expect(() => query(options as never)).toThrow(expect.objectContaining({ code: 'bad-request' }))
    expect(() => query(options as never)).toThrow(message)
  })

  it.each([
    [{ maxTurns: 0 }, /maxTurns/],
    [{ maxTurns: 'many' }, /maxTurns/],
    [{ turnsPerContinuation: 1.5 }, /turnsPerContinuation/],
    [{ turnsPerContinuation: Number.NaN }, /turnsPerContinuation/],
  ])('%j is refused by name for a continuation', (options, message) => {
    const begin = () => provider.executeWithContinuation({ prompt: 'x', ...options } as never)
    expect(begin).toThrow(expect.objectContaining({ code: 'bad-request' }))
    expect(begin).toThrow(message)
  })

  it('a directory that does not exist is refused', async () => {
    await expect(query({ cwd: '/no/such/place' }).next()).rejects.toMatchObject({ code: 'work-dir-unusable' })
  })

  it('an agent that is not configured is refused', async () => {
    await expect(provide('nobody')).rejects.toMatchObject({ code: 'agent-unknown' })
  })
})

it('a history of 10,000 messages and 50 MB is accepted; the model gets the newest', async () => {
  const history = new ConversationHistory()
  for (let n = 0; n < 5000; n++) {
    history.addUserMessage(`question ${n}`)
    history.addAssistantMessage([{ type: 'text', text: `answer ${n} ${'x'.repeat(10_000)}` }])
  }
  await all(query({ conversationHistory: history.getMessages() }))
  expect(given()).toContain('question 4999')
  expect(given().length).toBeLessThan(10_000_000)
})
