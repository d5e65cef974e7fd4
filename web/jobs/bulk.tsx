/** Actions on several jobs at once. Each job is asked for by itself: one that cannot be changed does not stop the others. */
import { useState } from 'react'
import type { Job } from '../../src/contract/job.ts'
import { client, errorText } from '../data/client.ts'
import { formatCount, plural } from '../format/amounts.ts'
import { inert } from '../format/text.ts'
import { useAct } from '../parts/act.ts'
import { Button, ErrorBox } from '../parts/base.tsx'

const CAN_CANCEL: readonly Job['state'][] = ['queued', 'running', 'waiting', 'paused']
const CAN_RETRY: readonly Job['state'][] = ['paused', 'failed', 'cancelled', 'waiting']

const AT_ONCE = 4

/** The errors of those that could not be changed. */
async function forEach(ids: readonly string[], work: (id: string) => Promise<unknown>): Promise<unknown[]> {
  const errors: unknown[] = []
  const left = [...ids]
  const worker = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      await work(id).catch((error: unknown) => errors.push(error))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return errors
}

export function Bulk({
  chosen,
  onAll,
  onDone,
}: {
  chosen: readonly Job[]
  /** Chooses every job that fits the filters; null: all are chosen. */
  onAll: (() => Promise<void>) | null
  onDone: () => void
}) {
  const act = useAct()
  const [confirming, setConfirming] = useState(false)
  const [report, setReport] = useState<string | null>(null)
  if (chosen.length === 0 && report === null) return null
  const some = (states: readonly Job['state'][]) =>
    chosen.filter(({ state }) => states.includes(state)).map(({ id }) => id)
  const [cancellable, retryable] = [some(CAN_CANCEL), some(CAN_RETRY)]
  const carryOut = (word: string, ids: readonly string[], work: (id: string) => Promise<unknown>) =>
    act.run(async () => {
      setConfirming(false)
      const errors = await forEach(ids, work)
      const [first] = errors
      setReport(
        `${plural(ids.length - errors.length, 'job')} ${word}.${first ? ` ${plural(errors.length, 'job')} not: ${inert(errorText(first).message).slice(0, 200)}` : ''}`,
      )
      onDone()
    })
  return (
    <div className="mb-2 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-raised px-3 py-1.5">
      {chosen.length === 0 ? (
        <>
          <span role="status">{report}</span>
          <Button kind="bare" className="ml-auto" onClick={() => setReport(null)}>
            Close
          </Button>
        </>
      ) : (
        <>
          <span role="status">{formatCount(chosen.length)} chosen</span>
          {onAll && (
            <Button kind="bare" busy={act.busy} onClick={() => void act.run(onAll)}>
              Choose all that fit
            </Button>
          )}
          <Button
            busy={act.busy}
            disabled={retryable.length === 0}
            onClick={() => void carryOut('continued', retryable, (id) => client.retryJob(id))}
          >
            Retry {formatCount(retryable.length)}
          </Button>
          <Button
            kind="danger"
            busy={act.busy}
            disabled={cancellable.length === 0}
            onClick={() => {
              if (!confirming && cancellable.length > 1) setConfirming(true)
              else void carryOut('cancelled', cancellable, (id) => client.cancelJob(id))
            }}
          >
            {confirming
              ? `Cancel ${formatCount(cancellable.length)} now`
              : `Cancel ${formatCount(cancellable.length)}`}
          </Button>
          <Button
            kind="bare"
            onClick={() => {
              setConfirming(false)
              onDone()
            }}
          >
            Choose none
          </Button>
        </>
      )}
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}
