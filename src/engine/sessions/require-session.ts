import { RepriseError } from '../../contract/errors.ts'
import { SessionId } from '../../contract/ids.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'

/** Finds a session by our id or by the agent's session id, or throws `not-found`. */
export async function requireSession(
  store: Pick<Store, 'getSession' | 'findSession'>,
  id: string,
): Promise<SessionRecord> {
  const session = SessionId.is(id) ? await store.getSession(id) : await store.findSession(id)
  if (session) return session
  throw new RepriseError('not-found', `there is no session ${JSON.stringify(id)}`, {
    hint: '`reprise sessions` lists them.',
  })
}
