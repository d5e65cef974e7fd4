/** The entry `reprise/provider`: queries in the form of the Agent SDK, with session continuity. */
import '../library/node-version.ts'
import type { ProviderMessage } from './message.ts'
import type { Provider, ProviderOptions } from './provider.ts'

/** With `createProvider<SDKMessage>()` the messages have the types of the Agent SDK, whose form they have anyway. */
export async function createProvider<Message = ProviderMessage>(
  options?: ProviderOptions,
): Promise<Provider<Message>> {
  const { createProvider: create } = await import('./provider.ts')
  return (await create(options)) as unknown as Provider<Message>
}

export { RepriseError } from '../contract/errors.ts'
export type { DroppedResult, QuerySessionMetadata } from '../contract/query.ts'
export type { CanUseTool, CanUseToolOptions, PermissionResult } from './asks.ts'
export type { ContinuationOptions, ContinuedMessages, TurnState } from './continuation.ts'
export { ConversationHistory } from './conversation-history.ts'
export type { Message, MessageBlock, PersistedSession, ToolResult, ToolUse } from './history.ts'
export type { HistoryInput } from './history-input.ts'
export type * from './message.ts'
export type { ExecuteOptions, SystemPrompt } from './options.ts'
export type { Provider, ProviderOptions, ReconstructedContext } from './provider.ts'
export type {
  FoldSessionSummary,
  SessionKey,
  SessionStore,
  SessionStoreEntry,
  SessionSummary,
} from './session-store.ts'
export type { SessionState } from './sessions.ts'
export type { QueryMessages, ResumedMessages, Taken, WhyFresh } from './taken.ts'
