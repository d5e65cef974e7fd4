/** Stores sessions whose files were placed, and mirrors them, so that they are kept from the beginning. */
import type { SessionId } from '../../contract/ids.ts'
import type { Mirror } from '../mirror/mirror.ts'
import type { Placed } from './placements.ts'

export interface StorePlacedDeps {
  mirrors: Pick<Mirror, 'catchUp'>
}

export interface PlacedSession {
  session: { id: SessionId }
  placed: Placed
}

/** Runs `store`. If that fails, the files of the sessions are removed. */
export async function storePlaced<T>(
  { mirrors }: StorePlacedDeps,
  sessions: readonly PlacedSession[],
  store: () => Promise<T>,
): Promise<T> {
  let result: T
  try {
    result = await store()
  } catch (error) {
    for (const { placed } of sessions) await placed.undo()
    throw error
  }
  for (const { session, placed } of sessions) {
    await placed.keep()
    await mirrors.catchUp(session.id)
  }
  return result
}
