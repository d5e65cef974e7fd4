/**
 * Takes in what others said in the session of a run, before it is resumed or given up: into the conversation as
 * messages, and in any case into what is kept of the session, so that a fresh start carries it. Stored before the attempt
 * is prepared for good; after a crash in between it is found again, and taken in once.
 */
import { describeOutside } from '../../core/history/outside.ts'
import type { RunRecord } from '../../store/base/records.ts'
import { persist } from '../base/persist.ts'
import type { EngineParts } from '../parts.ts'
import { type Prepared, prepareAttempt } from '../path/prepare.ts'

/** The run as it is then: turns that are taken in come before its own. */
export async function prepareInformed(
  parts: EngineParts,
  queued: RunRecord,
  workTree: string | null,
): Promise<{ run: RunRecord; prepared: Prepared | 'busy' }> {
  const first = await prepareAttempt(parts, queued, workTree)
  if (first === 'busy' || first.outside === null) return { run: queued, prepared: first }
  const { session, turns } = first.outside
  const { conversationId, turn } = queued.links
  await persist(parts, () =>
    parts.store.takeInOutside({
      session,
      conversation: conversationId === null || turn === null ? null : { id: conversationId, turn },
      turns,
      at: parts.clock.now(),
    }),
  )
  parts.log.info({ run: queued.id, session: session.id, turns: turns.length }, 'took in turns from outside')
  const run = (await parts.store.getRun(queued.id)) ?? queued
  const prepared = await prepareAttempt(parts, run, workTree)
  if (prepared === 'busy') return { run, prepared }
  const note = describeOutside(turns)
  return { run, prepared: { ...prepared, notes: [...(note ? [note] : []), ...prepared.notes] } }
}
