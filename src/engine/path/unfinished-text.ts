/**
 * Reads the text that an agent was writing when it was interrupted. Only complete texts have an event with the whole
 * text.
 */
import type { AttemptId, RunId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'

export interface UnfinishedText {
  text: string
  /** The sequence number of its first piece. */
  seq: number
}

/** `afterSeq` is the sequence number of the last complete text. */
export async function readUnfinishedText(
  store: Pick<Store, 'listEvents'>,
  { id, runId }: { id: AttemptId; runId: RunId },
  afterSeq: number,
): Promise<UnfinishedText | null> {
  let text = ''
  let seq = Number.POSITIVE_INFINITY
  await scanEvents(store, runId, { attemptId: id, types: ['text-delta'], afterSeq }, (event) => {
    if (event.body.type !== 'text-delta' || event.body.parentToolUseId !== undefined) return
    text += event.body.text
    seq = Math.min(seq, event.seq)
  })
  return text.trim() === '' ? null : { text, seq }
}
