/** What an agent was saying when it was cut off. A text that is whole is in one event; here are pieces of one that never was. */
import type { AttemptId, RunId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'

export interface UnfinishedText {
  text: string
  /** Of its first piece. */
  seq: number
}

/** `afterSeq`: the last text that was whole. */
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
