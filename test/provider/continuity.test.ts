/** Session continuity on the real CLI: what is resumed, what a new session is told, what is stored. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { query as sdkQuery } from '@anthropic-ai/claude-agent-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConversationHistory } from '../../src/provider/conversation-history.ts'
import type { ProviderMessage } from '../../src/provider/message.ts'
import type { ExecuteOptions } from '../../src/provider/options.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { all, askSdk, kinds, openProvider, resultOf } from '../support/provider.ts'
import { makeUnusable, transcriptOf } from '../support/transcripts.ts'
import { World } from '../support/world.ts'

let world: World
let provider: Provider
beforeAll(async () => {
  world = await World.create({
    name: 'continuity',
    rules: [
      {
        when: '/^read notes$/',
        reply: [
          { tool: 'Read', input: { file_path: 'notes.txt' } },
          { await: 'results' },
          { text: 'I have read it.' },
        ],
      },
      {
        when: '/^count$/',
        reply: [1, 2, 3]
          .flatMap((n) => [
            { tool: 'Bash', input: { command: `echo ${n}`, description: 'count' } },
            { await: 'results' as const },
          ])
          .concat([{ text: 'Counted.' }] as never),
      },
      {
        when: '/^write$/',
        reply: [
          { tool: 'Bash', input: { command: 'echo free > free.txt', description: 'write' } },
          { await: 'results' },
          { text: 'Written.' },
        ],
      },
      { reply: 'You said: ${user}' },
    ],
  })
  provider = await openProvider(world)
})
afterAll(async () => {
  await provider.close()
  await world.close()
})

const query = (options: Partial<ExecuteOptions> & { prompt: string }) =>
  provider.executeQuery({ model: 'haiku', cwd: world.workDir, ...options })

const sentTo = (id: string) => world.simulator.requests().filter(({ sessionId }) => sessionId === id)

async function makeSession(prompt: string): Promise<string> {
  return resultOf(await all(query({ prompt }))).session_id
}

const HISTORY = [
  { role: 'user', content: 'the code word is zebra' },
  { role: 'assistant', content: 'You said: the code word is zebra' },
] as const

it('a program keeps the id of its session and continues it later', async () => {
  const history = new ConversationHistory()
  let savedSessionId: string | undefined
  const ask = async (prompt: string) => {
    const options: ExecuteOptions = {
      prompt,
      model: 'haiku',
      cwd: world.workDir,
      sdkSessionId: savedSessionId,
      conversationHistory: history.getMessages(),
    }
    history.addUserMessage(prompt)
    for await (const message of provider.executeQuery(options)) {
      history.addMessage(message)
      if (message.type === 'result') savedSessionId = message.session_id
    }
  }
  await ask('the code word is zebra')
  const first = savedSessionId
  await ask('Continue from where we left off')
  expect(savedSessionId).toBe(first)
  const [, second] = sentTo(first ?? '')
  expect(second?.userText).toBe('Continue from where we left off')
  expect(JSON.stringify(second?.messages).match(/the code word is zebra/g)).toHaveLength(2)
  expect(history.getMessages().map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])

  const { metadata, messages } = JSON.parse(
    readFileSync(join(world.dir, 'data', 'agent-sessions', first ?? '', 'session.json'), 'utf8'),
  )
  expect(messages.map(({ content }: { content: { text: string }[] }) => content[0]?.text)).toEqual([
    'the code word is zebra',
    'You said: the code word is zebra',
    'Continue from where we left off',
    'You said: Continue from where we left off',
  ])
  expect(metadata).toMatchObject({ id: first, cwd: world.workDir, turnCount: 2, lastStopReason: 'end_turn' })
})

/** Reprise would restore the file from its mirror. */
function removeWithMirror(path: string): void {
  rmSync(path)
  rmSync(join(world.dir, 'data', 'mirror'), { recursive: true })
}

it.each([
  ['deleted with its mirror', 'transcript-missing', removeWithMirror],
  ['full of garbage', 'transcript-unreadable', (path: string) => writeFileSync(path, 'not JSON\n')],
  ['refused by the agent', 'refused', makeUnusable],
])('a session whose file is %s is replaced, and the model is told the history', async (_, reason, spoil) => {
  const id = await makeSession('the code word is zebra')
  spoil(transcriptOf(world.configDir, id))
  const again = await provider.safeResume(id, 'what was it?', {
    model: 'haiku',
    cwd: world.workDir,
    conversationHistory: HISTORY,
  })
  expect(again.taken).toMatchObject({ way: 'fresh', reason })
  const messages = await all(again)
  expect(kinds(messages)).toEqual(['system/init', 'assistant', 'result/success'])
  const { session_id } = resultOf(messages)
  expect(session_id).not.toBe(id)
  expect(JSON.stringify(sentTo(session_id)[0]?.messages)).toMatch(/the code word is zebra.*what was it\?/s)
})

it('a turn limit is continued in the same session until the model has finished', async () => {
  const work = provider.executeWithContinuation({
    prompt: 'count',
    model: 'haiku',
    cwd: world.workDir,
    allowedTools: ['Bash'],
    maxTurns: 10,
    turnsPerContinuation: 2,
  })
  const messages = await all(work)
  expect(kinds(messages).filter((kind) => kind.startsWith('result'))).toEqual([
    'result/error_max_turns',
    'result/success',
  ])
  expect(new Set(messages.map(({ session_id }) => session_id)).size).toBe(1)
  expect(work.state).toMatchObject({ toolCalls: 2, continuations: 1 })
})

it('a file that was read and has changed since is left out of the reconstructed context', async () => {
  const notes = join(world.workDir, 'notes.txt')
  writeFileSync(notes, 'buy milk\n')
  const id = await makeSession('read notes')
  expect(JSON.stringify(await provider.reconstructContext(id))).toContain('buy milk')
  writeFileSync(notes, 'buy bread\n')
  const context = await provider.reconstructContext(id)
  expect(context.dropped).toMatchObject([{ tool: 'Read', path: notes, reason: `${notes} has changed since` }])
  expect(JSON.stringify(context)).not.toContain('buy milk')
})

it('permissions are skipped if that is asked for', async () => {
  const messages = await all(query({ prompt: 'write', permissionMode: 'bypassPermissions' }))
  expect(resultOf(messages).result).toBe('Written.')
  expect(readFileSync(join(world.workDir, 'free.txt'), 'utf8')).toBe('free\n')
})

it('a session is found where the variables of the query put it', async () => {
  const env = { CLAUDE_CONFIG_DIR: join(world.dir, 'elsewhere') }
  const { session_id: id } = resultOf(await all(query({ prompt: 'hello', env })))
  expect(transcriptOf(env.CLAUDE_CONFIG_DIR, id)).toContain(id)
  const again = query({ prompt: 'again', env, sdkSessionId: id, conversationHistory: HISTORY })
  await all(again)
  expect(again.taken).toEqual({ way: 'resumed', sessionId: id })
})

it('the Agent SDK keeps its transcripts in Reprise, and resumes from there', async () => {
  const { sessionStore } = provider
  const ask = async (prompt: string, resume?: string) => {
    const env = {
      ...world.env,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Another directory each time: nothing but the store has the transcript.
      CLAUDE_CONFIG_DIR: join(world.dir, `sdk-${resume ?? 'first'}`),
    }
    const messages = sdkQuery({
      prompt,
      options: {
        cwd: world.workDir,
        model: 'haiku',
        env,
        pathToClaudeCodeExecutable: join(import.meta.dirname, '../../node_modules/.bin/claude'),
        sessionStore,
        ...(resume === undefined ? {} : { resume }),
      },
    })
    return resultOf(await all(messages as AsyncIterable<unknown> as AsyncIterable<ProviderMessage>))
  }
  const { session_id: id } = await ask('the code word is zebra')
  const again = await ask('what was it?', id)
  expect(again.session_id).toBe(id)
  const second = sentTo(id).find(({ userText }) => userText === 'what was it?')
  expect(JSON.stringify(second?.messages)).toMatch(/the code word is zebra.*what was it\?/s)
  const projectKey = world.workDir.replace(/[^a-zA-Z0-9]/g, '-')
  expect((await sessionStore.listSessions(projectKey)).map(({ sessionId }) => sessionId)).toEqual([id])
  await sessionStore.delete({ projectKey, sessionId: id })
  expect(await sessionStore.load({ projectKey, sessionId: id })).toBeNull()
})

it('a session that the Agent SDK made is continued', async () => {
  const { session_id: id } = resultOf(await all(askSdk(world)({ prompt: 'the code word is zebra' })))
  const again = query({ prompt: 'what was it?', sdkSessionId: id, conversationHistory: HISTORY })
  await all(again)
  expect(again.taken).toEqual({ way: 'resumed', sessionId: id })
  expect((await provider.reconstructContext(id)).map(({ content }) => content[0]?.text)).toEqual([
    'the code word is zebra',
    'You said: the code word is zebra',
    'what was it?',
    'You said: what was it?',
  ])
})
