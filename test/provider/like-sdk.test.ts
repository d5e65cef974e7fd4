/**
 * What the provider and the Agent SDK's `query` promise alike, on the real CLI: the same suite for both, and a comparison
 * of what they yield.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProviderMessage } from '../../src/provider/message.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { type Ask, all, askProvider, askSdk, kinds, openProvider, resultOf } from '../support/provider.ts'
import { until, World } from '../support/world.ts'

let world: World
let provider: Provider
beforeAll(async () => {
  world = await World.create({
    name: 'like the SDK',
    rules: [
      {
        when: 'write it',
        reply: [
          { text: 'I write.' },
          { tool: 'Bash', input: { command: 'echo "$WHO" > said.txt', description: 'write' } },
          { await: 'results' },
          { text: 'Result: ${toolResult}' },
        ],
      },
      { when: 'hang', reply: [{ text: 'Wait' }, { hold: 'for ever' }, { text: 'never' }] },
      { reply: 'You said: ${user}' },
    ],
  })
  provider = await openProvider(world)
})
afterAll(async () => {
  await provider.close()
  await world.close()
})

const IMPLEMENTATIONS: [string, () => Ask][] = [
  ['the provider', () => askProvider(world, () => provider)],
  // Only our own part can break between two versions of the SDK.
  ...(process.env.REPRISE_TEST_ALL ? [['the SDK', () => askSdk(world)] as [string, () => Ask]] : []),
]
const HISTORY = [{ role: 'user', content: 'before' }] as const

describe.each(IMPLEMENTATIONS)('%s', (_, implementation) => {
  const ask: Ask = (options) => implementation()(options)
  const requestsOf = (id: string) => world.simulator.requests().filter(({ sessionId }) => sessionId === id)

  it('starts a session and resumes it, with the system prompt of the caller', async () => {
    const first = await all(ask({ prompt: 'remember zebra', systemPrompt: 'You are a parrot.' }))
    expect(kinds(first)).toEqual(['system/init', 'assistant', 'result/success'])
    const { session_id: id, ...result } = resultOf(first)
    expect(result).toMatchObject({
      is_error: false,
      stop_reason: 'end_turn',
      num_turns: 1,
      result: 'You said: remember zebra',
      usage: { output_tokens: expect.any(Number) },
    })
    expect(first.every(({ session_id, uuid }) => session_id === id && uuid !== '')).toBe(true)

    const second = await all(
      ask({
        prompt: 'again',
        sdkSessionId: id,
        conversationHistory: HISTORY,
        systemPrompt: 'You are a parrot.',
      }),
    )
    expect(resultOf(second)).toMatchObject({ session_id: id, result: 'You said: again' })
    const sent = requestsOf(id)
    expect(sent).toHaveLength(2)
    expect(JSON.stringify(sent[1]?.messages)).toMatch(/remember zebra.*You said: remember zebra.*again/s)
    for (const { system } of sent) expect(JSON.stringify(system)).toContain('You are a parrot.')
  })

  it('asks before a tool is used, and runs it with the input that the caller returns', async () => {
    const asked: unknown[] = []
    const messages = await all(
      ask({
        prompt: 'write it',
        env: { WHO: 'me' },
        canUseTool: async (tool, input, { toolUseID }) => {
          asked.push([tool, typeof toolUseID])
          return { behavior: 'allow', updatedInput: { ...input, command: 'echo "$WHO changed" > said.txt' } }
        },
      }),
    )
    expect(asked).toEqual([['Bash', 'string']])
    expect(kinds(messages)).toEqual([
      'system/init',
      'assistant',
      'assistant',
      'user',
      'assistant',
      'result/success',
    ])
    expect(readFileSync(join(world.workDir, 'said.txt'), 'utf8')).toBe('me changed\n')
  })

  it('tells the model why a tool is refused', async () => {
    const messages = await all(
      ask({
        prompt: 'write it',
        canUseTool: async () => ({ behavior: 'deny', message: 'Not on a Tuesday.' }),
      }),
    )
    expect(resultOf(messages).result).toContain('Not on a Tuesday.')
  })

  it('refuses without a callback what is not allowed', async () => {
    const messages = await all(ask({ prompt: 'write it', permissionMode: 'default' }))
    expect(kinds(messages)).toContain('system/permission_denied')
    expect(resultOf(messages).permission_denials).toHaveLength(1)
  })

  it('stops at maxTurns with a result that says so; allowed tools need no callback', async () => {
    const messages = await all(ask({ prompt: 'write it', maxTurns: 1, allowedTools: ['Bash'] }))
    expect(kinds(messages).at(-1)).toBe('result/error_max_turns')
    expect(resultOf(messages)).toMatchObject({ is_error: true, stop_reason: 'tool_use', num_turns: 2 })
  })

  it('streams the parts of an answer, and ends its process when it is left', async () => {
    let parts = ''
    for await (const message of ask({ prompt: 'hang', includePartialMessages: true })) {
      if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') continue
      if (message.event.delta.type === 'text_delta') parts += message.event.delta.text
      if (parts === 'Wait') break
    }
    expect(parts).toBe('Wait')
    await until(() => world.processes().length === 0, 'the end of the process')
  })

  it('is aborted by its signal', async () => {
    const controller = new AbortController()
    const messages = ask({ prompt: 'hang', abortSignal: controller.signal })
    await messages.next()
    const waiting = messages.next()
    controller.abort()
    await expect(waiting.then(() => all(messages))).rejects.toThrow(/abort/)
    await until(() => world.processes().length === 0, 'the end of the process')
  })
})

it('both yield the same messages, with the same fields', async () => {
  const run = (ask: Ask) =>
    all(ask({ prompt: 'write it', allowedTools: ['Bash'], includePartialMessages: true, env: { WHO: 'me' } }))
  const ours = await run(askProvider(world, () => provider))
  const theirs = await run(askSdk(world))
  expect(kinds(ours)).toEqual(kinds(theirs))
  for (const [index, message] of theirs.entries()) {
    const missing = fieldsOf(message).filter((field) => !fieldsOf(ours[index]).includes(field))
    expect({ type: message.type, missing }).toEqual({ type: message.type, missing: [] })
  }
})

const fieldsOf = (message: ProviderMessage | undefined) => Object.keys(message ?? {})
