/** A provider in a world of its own, and the Agent SDK's `query` in the same world. Both start the real CLI. */
import { join, resolve } from 'node:path'
import { type Options, query } from '@anthropic-ai/claude-agent-sdk'
import type { ProviderMessage, ResultMessage } from '../../src/provider/message.ts'
import type { ExecuteOptions } from '../../src/provider/options.ts'
import { createProvider, type Provider } from '../../src/provider/provider.ts'
import type { World } from './world.ts'

const CLAUDE = resolve(import.meta.dirname, '../../node_modules/.bin/claude')

export const openProvider = (world: World, dataDir = join(world.dir, 'data')): Promise<Provider> =>
  createProvider({ dataDir, env: world.env, cwd: world.dir })

export type Ask = (options: Partial<ExecuteOptions> & { prompt: string }) => AsyncGenerator<ProviderMessage>

export const askProvider =
  (world: World, provider: () => Provider): Ask =>
  (options) =>
    provider().executeQuery({ cwd: world.workDir, model: 'haiku', ...options })

/**
 * The same options for the SDK. It reports an error result and then throws; here the result is all, as in the provider.
 */
export const askSdk =
  (world: World): Ask =>
  ({ prompt, sdkSessionId, conversationHistory: _, env, abortSignal, ...options }) => {
    const abortController = new AbortController()
    abortSignal?.addEventListener('abort', () => abortController.abort())
    const made = query({
      prompt,
      options: {
        cwd: world.workDir,
        model: 'haiku',
        env: {
          ...world.env,
          DISABLE_AUTOUPDATER: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          ...env,
        },
        pathToClaudeCodeExecutable: CLAUDE,
        abortController,
        ...(sdkSessionId === undefined ? {} : { resume: sdkSessionId }),
        ...options,
      } as object as Options,
    })
    return untilResult(made as AsyncGenerator<unknown> as AsyncGenerator<ProviderMessage>)
  }

async function* untilResult(messages: AsyncGenerator<ProviderMessage>): AsyncGenerator<ProviderMessage> {
  let hasResult = false
  try {
    for await (const message of messages) {
      hasResult ||= message.type === 'result'
      yield message
    }
  } catch (error) {
    if (!hasResult) throw error
  }
}

export async function all(messages: AsyncIterable<ProviderMessage>): Promise<ProviderMessage[]> {
  const list = []
  for await (const message of messages) list.push(message)
  return list
}

export const kinds = (messages: readonly ProviderMessage[]) =>
  messages.map(({ type, subtype }) => (typeof subtype === 'string' ? `${type}/${subtype}` : type))

export function resultOf(messages: readonly ProviderMessage[]): ResultMessage {
  const result = messages.findLast((message) => message.type === 'result')
  if (!result) throw new Error('there is no result')
  return result
}
