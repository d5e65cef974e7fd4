/** The calls about exporting, importing, forking and moving sessions. */
import type { RewoundJob } from '../contract/checkpoint.ts'
import type { ConversationDetail } from '../contract/conversation.ts'
import { RepriseError } from '../contract/errors.ts'
import type {
  ExportSession,
  ForkedSession,
  ForkSession,
  ImportedSession,
  SessionMove,
} from '../contract/session-transfer.ts'
import type { Open, Request } from './request.ts'

export interface ImportOptions {
  workDir?: string | undefined
  agent?: string | undefined
  asCopy?: boolean | undefined
}

export interface TransferCalls {
  /** The bytes of the file. An error while reading means that the file is incomplete. */
  exportSession: (id: string, options?: ExportSession) => Promise<ReadableStream<Uint8Array>>
  /** In browsers the file must be a Blob or bytes. */
  importSession: (
    file: ReadableStream<Uint8Array> | Blob | Uint8Array<ArrayBuffer>,
    options?: ImportOptions,
  ) => Promise<ImportedSession>
  forkSession: (id: string, options?: ForkSession) => Promise<ForkedSession>
  /** Describes the effect of a move to that directory without changing anything. */
  planSessionMove: (id: string, workDir: string) => Promise<SessionMove>
  moveSession: (id: string, workDir: string) => Promise<SessionMove>
  forkConversation: (
    id: string,
    options?: { at?: string | undefined; title?: string | undefined },
  ) => Promise<ConversationDetail>
  /** Puts the files and the session of a job back to a checkpoint. The old session and files are kept. */
  rewindJob: (id: string, checkpoint: number) => Promise<RewoundJob>
}

export function transferCalls({ request, open }: { request: Request; open: Open }): TransferCalls {
  return {
    exportSession: async (id, body = {}) => {
      const file = await open('exportSession', { params: { id }, body })
      if (!file) throw new RepriseError('internal', 'the response has no body')
      return file
    },
    importSession: (bytes, { workDir, agent, asCopy } = {}) =>
      request(
        'importSession',
        { query: { workDir, agent, ...(asCopy ? { asCopy: 'true' as const } : {}) } },
        { bytes },
      ),
    forkSession: (id, body = {}) => request('forkSession', { params: { id }, body }),
    planSessionMove: (id, workDir) => request('planSessionMove', { params: { id }, query: { workDir } }),
    moveSession: (id, workDir) => request('moveSession', { params: { id }, body: { workDir } }),
    forkConversation: (id, body = {}) => request('forkConversation', { params: { id }, body }),
    rewindJob: (id, checkpoint) => request('rewindJob', { params: { id }, body: { checkpoint } }),
  }
}
