/** The entry `reprise/provider`: queries in the form of the Agent SDK, with session continuity. */
import '../library/node-version.ts'
import type { Provider, ProviderOptions } from './provider.ts'

export async function createProvider(options?: ProviderOptions): Promise<Provider> {
  const { createProvider: create } = await import('./provider.ts')
  return create(options)
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
export type { SessionKey, SessionStore, SessionStoreEntry } from './session-store.ts'
export type { SessionState } from './sessions.ts'
export type { QueryMessages, ResumedMessages, Taken, WhyFresh } from './taken.ts'
