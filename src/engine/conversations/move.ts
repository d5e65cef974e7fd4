/**
 * Moving a conversation to another work directory, and what that means for its sessions. The prediction follows the
 * same rule as the resume decision: a renamed directory is still the same directory, and its sessions can be resumed.
 */
import type { ConversationMove } from '../../contract/conversation.ts'
import { RepriseError } from '../../contract/errors.ts'
import { describeMove, isSamePlace } from '../../core/resume/place.ts'
import type { ConversationRecord } from '../../store/conversations/records.ts'
import type { Store } from '../../store/store.ts'
import { checkWorkDir, identifyDir } from '../base/work-dir.ts'

export async function planMove(
  { store }: { store: Pick<Store, 'listPins' | 'getSession'> },
  conversation: ConversationRecord,
  workDir: string,
): Promise<ConversationMove> {
  const real = await checkWorkDir(workDir)
  const to = { workDir: real, workDirId: await identifyDir(real) }
  const sessions: ConversationMove['sessions'] = []
  for (const { agent, sessionId } of await store.listPins(conversation.id)) {
    const session = sessionId && (await store.getSession(sessionId))
    if (!session) continue
    const { id } = session
    sessions.push({ agent, session: id, resumes: isSamePlace(session, to), why: describeMove(session, to) })
  }
  return { from: conversation.workDir, to: workDir, sessions }
}

/** Throws if the work directory is gone, with a hint how to move the conversation. */
export async function checkConversationDir({ id, workDir }: ConversationRecord): Promise<void> {
  try {
    await checkWorkDir(workDir)
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error
    throw new RepriseError(error.code, error.message, {
      hint: `If it was renamed or moved, move the conversation too: reprise conversations move ${id} DIRECTORY`,
      cause: error,
    })
  }
}
