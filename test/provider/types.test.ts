/**
 * Checked by the compiler above all (`npm run check`): code that was written for the Agent SDK's `query()` compiles unchanged with the provider's
 * messages, and what the provider's types promise is what the SDK's promise.
 */
import type {
  foldSessionSummary,
  SDKMessage,
  CanUseTool as SdkCanUseTool,
  SessionStore,
} from '@anthropic-ai/claude-agent-sdk'
import { expect, it } from 'vitest'
import type { CanUseTool, Provider, ProviderMessage } from '../../src/provider/index.ts'
import { createProvider, type FoldSessionSummary } from '../../src/provider/index.ts'

/** Every message of the SDK has what the provider's type names. The ids of a user's message are optional there only. */
type Identified<Message> = Message extends { type: 'user' }
  ? Message & { uuid: string; session_id: string }
  : Message
const fromSdk = (message: Identified<SDKMessage>): ProviderMessage => message

/** The body of both functions is the same. */
async function readSdk(query: AsyncIterable<SDKMessage>): Promise<string> {
  let text = ''
  for await (const message of query) {
    switch (message.type) {
      case 'system':
        if (message.subtype === 'init') text += message.model + message.tools.join() + message.session_id
        if (message.subtype === 'compact_boundary') text += message.compact_metadata.trigger
        break
      case 'assistant':
        for (const block of message.message.content) {
          if (block.type === 'text') text += block.text.trim()
          if (block.type === 'tool_use') text += block.name + JSON.stringify(block.input)
        }
        text += message.message.usage.output_tokens.toFixed()
        break
      case 'user':
        if (typeof message.message.content === 'string') text += message.message.content.trim()
        break
      case 'stream_event':
        if (message.event.type === 'content_block_delta' && message.event.delta.type === 'text_delta')
          text += message.event.delta.text.trim()
        break
      case 'result':
        if (message.subtype === 'success') text += message.result.trim()
        else text += message.errors.join() + message.subtype.toUpperCase()
        text += message.total_cost_usd.toFixed(4) + message.usage.input_tokens.toFixed() + message.num_turns
        text += message.stop_reason ?? message.permission_denials.map(({ tool_name }) => tool_name).join()
        return message.session_id
    }
  }
  return text
}

async function readProvider(query: AsyncIterable<ProviderMessage>): Promise<string> {
  let text = ''
  for await (const message of query) {
    switch (message.type) {
      case 'system':
        if (message.subtype === 'init') text += message.model + message.tools.join() + message.session_id
        if (message.subtype === 'compact_boundary') text += message.compact_metadata.trigger
        break
      case 'assistant':
        for (const block of message.message.content) {
          if (block.type === 'text') text += block.text.trim()
          if (block.type === 'tool_use') text += block.name + JSON.stringify(block.input)
        }
        text += message.message.usage.output_tokens.toFixed()
        break
      case 'user':
        if (typeof message.message.content === 'string') text += message.message.content.trim()
        break
      case 'stream_event':
        if (message.event.type === 'content_block_delta' && message.event.delta.type === 'text_delta')
          text += message.event.delta.text.trim()
        break
      case 'result':
        if (message.subtype === 'success') text += message.result.trim()
        else text += message.errors.join() + message.subtype.toUpperCase()
        text += message.total_cost_usd.toFixed(4) + message.usage.input_tokens.toFixed() + message.num_turns
        text += message.stop_reason ?? message.permission_denials.map(({ tool_name }) => tool_name).join()
        return message.session_id
    }
  }
  return text
}

/** With the types of the SDK, whatever a program reads. */
async function withTypesOfSdk(): Promise<string> {
  const provider: Provider<SDKMessage> = await createProvider<SDKMessage>({ dataDir: 'state' })
  const resumed = await provider.safeResume('id', 'Go on.')
  return (await readSdk(provider.executeQuery({ prompt: 'hello' }))) + (await readSdk(resumed))
}

/** A store of the provider is one of the SDK, and a callback that was written for the SDK can be given to a query. */
const storeOf = (provider: Provider): SessionStore => provider.sessionStore
const foldOf = (fold: typeof foldSessionSummary): FoldSessionSummary => fold
const callbackOf = (callback: SdkCanUseTool): CanUseTool => callback as CanUseTool

it('code that was written for the SDK reads the messages of the provider', async () => {
  const result = {
    type: 'result',
    subtype: 'success',
    result: 'done',
    total_cost_usd: 0.1,
    usage: { input_tokens: 1, output_tokens: 1 },
    num_turns: 1,
    stop_reason: 'end_turn',
    permission_denials: [],
    session_id: 'the session',
    uuid: 'u',
  } as unknown as ProviderMessage
  // These only have to compile.
  expect(
    [fromSdk, withTypesOfSdk, storeOf, callbackOf, foldOf].every((one) => typeof one === 'function'),
  ).toBe(true)
  async function* messages() {
    yield result
  }
  expect(await readProvider(messages())).toBe('the session')
  expect(await readSdk(messages() as AsyncGenerator<unknown> as AsyncGenerator<SDKMessage>)).toBe(
    'the session',
  )
})
