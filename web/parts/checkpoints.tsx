/** The saved states of a job's work tree: the difference between any two, and going back to one. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { JobDetail } from '../../src/contract/job.ts'
import { client } from '../data/client.ts'
import { diffQuery } from '../data/queries.ts'
import { plural } from '../format/amounts.ts'
import { formatClock } from '../format/time.ts'
import { PatchView } from '../transcript/diff.tsx'
import { useAct } from './act.ts'
import { Button, ErrorBox, Skeleton } from './base.tsx'

const KIND_WORDS = {
  start: 'before the agent started',
  agent: 'what the agent left',
  found: 'what was found there',
  saved: 'saved before a restore',
} as const

export function Checkpoints({ job }: { job: JobDetail }) {
  const { checkpoints } = job
  const first = checkpoints[0]?.number ?? 0
  const last = checkpoints.at(-1)?.number ?? 0
  // Until somebody chooses, the first and the newest are compared; more may come while the job runs.
  const [chosenFrom, setFrom] = useState<number | null>(null)
  const [chosenTo, setTo] = useState<number | null>(null)
  const [from, to] = [chosenFrom ?? first, chosenTo ?? last]
  const { data: diff, error, isLoading } = useQuery({ ...diffQuery(job.id, from, to), enabled: from !== to })
  return (
    <div className="rounded-lg border border-line bg-surface">
      <ol className="flex flex-wrap items-center gap-y-1 px-3 py-2">
        {checkpoints.map(({ number, kind, createdAt }, index) => (
          <li key={number} className="flex items-center">
            {index > 0 && <span aria-hidden="true" className="mx-1 h-px w-5 bg-line" />}
            <button
              type="button"
              onClick={() => (number < to ? setFrom(number) : setTo(number))}
              title={`${number}: ${KIND_WORDS[kind]}, ${formatClock(createdAt)}`}
              aria-label={`checkpoint ${number}, ${KIND_WORDS[kind]}`}
              className={`flex size-6 items-center justify-center rounded-full border text-small ${
                number === from || number === to
                  ? 'border-accent bg-accent-soft text-accent'
                  : 'border-line hover:bg-raised'
              }`}
            >
              {number}
            </button>
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2 text-small">
        <Choose label="From checkpoint" value={from} onChange={setFrom} job={job} />
        <span className="text-muted">→</span>
        <Choose label="To checkpoint" value={to} onChange={setTo} job={job} />
        {diff && <span className="text-muted">{plural(diff.files.length, 'file')} changed</span>}
        <GoBack key={to} job={job} number={to} />
      </div>
      <div className="px-3 pb-3">
        {error && <ErrorBox error={error} />}
        {isLoading && from !== to && <Skeleton rows={2} />}
        {from === to && (
          <p className="text-muted">Choose two checkpoints to see what changed between them.</p>
        )}
        {diff &&
          from !== to &&
          (diff.patch === '' ? (
            <p className="text-muted">Nothing changed.</p>
          ) : (
            <PatchView patch={diff.patch} />
          ))}
        {diff?.truncated && <p className="mt-1 text-ask">The patch is too long and is cut off.</p>}
      </div>
    </div>
  )
}

function Choose({
  label,
  value,
  onChange,
  job,
}: {
  label: string
  value: number
  onChange: (number: number) => void
  job: JobDetail
}) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => onChange(Number(event.target.value))}
      className="h-7 rounded-md border border-line bg-surface px-1.5"
    >
      {job.checkpoints.map(({ number, kind, createdAt }) => (
        <option key={number} value={number}>
          {number} · {KIND_WORDS[kind]} · {formatClock(createdAt)}
        </option>
      ))}
    </select>
  )
}

/** Restoring changes the files; rewinding also takes the session back, so that a retry continues from there. */
function GoBack({ job, number }: { job: JobDetail; number: number }) {
  const act = useAct()
  const [sure, setSure] = useState<'restore' | 'rewind' | null>(null)
  if (job.state === 'running') {
    return <span className="ml-auto text-muted">While it runs, nothing can be restored.</span>
  }
  const carryOut = async () => {
    const work = sure === 'rewind' ? client.rewindJob : client.restoreJob
    if (await act.run(() => work(job.id, number))) setSure(null)
  }
  return (
    <span className="ml-auto flex flex-wrap items-center justify-end gap-2">
      {sure === null ? (
        <>
          <Button onClick={() => setSure('restore')}>Restore {number}…</Button>
          <Button onClick={() => setSure('rewind')}>Rewind to {number}…</Button>
        </>
      ) : (
        <>
          <span className="text-ask">
            {sure === 'rewind'
              ? 'Files and session go back to this point; a retry continues from there. The old session and the present files are kept.'
              : 'The files go back to this point. The present ones are saved as another checkpoint first.'}
          </span>
          <Button kind="danger" busy={act.busy} onClick={() => void carryOut()}>
            {sure === 'rewind' ? `Rewind to ${number} now` : `Restore ${number} now`}
          </Button>
          <Button onClick={() => setSure(null)}>Keep</Button>
        </>
      )}
      {act.error !== null && <ErrorBox error={act.error} />}
    </span>
  )
}
