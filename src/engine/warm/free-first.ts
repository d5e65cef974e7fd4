/**
 * Ends the process that waits in a session before the session, or the history that it was given, is changed, copied or
 * deleted. A process that works is not affected: those calls have rules of their own for it.
 */
import type { ConversationId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import type { ConversationEngine } from '../conversations/api.ts'
import type { KeptProcesses } from '../kept/kept.ts'
import { requireSession } from '../sessions/require-session.ts'
import type { TransferEngine } from '../transfer/api.ts'

export interface FreeFirstDeps {
  store: Pick<Store, 'getSession' | 'findSession' | 'listPins'>
  kept: Pick<KeptProcesses, 'free'>
}

type OfSessions = Pick<TransferEngine, 'exportSession' | 'forkSession' | 'moveSession'> & {
  deleteSession: (id: string) => Promise<void>
}
type OfConversations = Pick<
  ConversationEngine,
  'updateConversation' | 'deleteConversation' | 'forkConversation' | 'editMessage' | 'truncate' | 'retryFrom'
>

export function freeSessionsFirst({ store, kept }: FreeFirstDeps, calls: OfSessions): OfSessions {
  const free = async (id: string, why: string) => kept.free((await requireSession(store, id)).id, why)
  return {
    exportSession: async (id, options) => {
      await free(id, 'its session is exported')
      return calls.exportSession(id, options)
    },
    forkSession: async (id, options) => {
      await free(id, 'its session is forked')
      return calls.forkSession(id, options)
    },
    moveSession: async (id, workDir) => {
      await free(id, 'its session is moved')
      return calls.moveSession(id, workDir)
    },
    deleteSession: async (id) => {
      await free(id, 'its session is deleted')
      return calls.deleteSession(id)
    },
  }
}

export function freeConversationsFirst(
  { store, kept }: FreeFirstDeps,
  calls: OfConversations,
): OfConversations {
  const free = async (id: ConversationId, why: string) => {
    for (const { sessionId } of await store.listPins(id)) if (sessionId) await kept.free(sessionId, why)
  }
  return {
    updateConversation: async (id, change) => {
      if (change.workDir !== undefined) await free(id, 'its conversation is moved')
      return calls.updateConversation(id, change)
    },
    deleteConversation: async (id) => {
      await free(id, 'its conversation is deleted')
      return calls.deleteConversation(id)
    },
    forkConversation: async (id, request) => {
      await free(id, 'its conversation is forked')
      return calls.forkConversation(id, request)
    },
    editMessage: async (id, message, text) => {
      await free(id, 'a message was edited')
      return calls.editMessage(id, message, text)
    },
    truncate: async (id, message) => {
      await free(id, 'messages are removed')
      return calls.truncate(id, message)
    },
    retryFrom: async (id, message, request, key) => {
      await free(id, 'a question is asked again')
      return calls.retryFrom(id, message, request, key)
    },
  }
}
