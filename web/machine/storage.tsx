/** What is stored, how long it is kept, and deleting what is old now. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PruneReport } from '../../src/contract/prune.ts'
import { client } from '../data/client.ts'
import { configurationQuery } from '../data/queries.ts'
import { formatBytes, formatCount } from '../format/amounts.ts'
import { useAct } from '../parts/act.ts'
import { Button, ErrorBox, Fact } from '../parts/base.tsx'

const KINDS = {
  runs: 'runs',
  events: 'events',
  transcripts: 'copies of transcripts',
  sessions: 'sessions',
  output: 'raw output',
  checkpoints: 'checkpoints',
} as const

/** Durations are written as in the configuration, such as `30m`. */
interface Settings {
  keep?: Partial<Record<keyof typeof KINDS, string>>
  run?: { concurrency?: number; maxDuration?: string; questionTimeout?: string }
  jobs?: { perWorkDir?: number }
}

const useSettings = (): Settings => {
  const { data } = useQuery(configurationQuery())
  return (data?.settings as Settings | undefined) ?? {}
}

export function Storage() {
  const { keep = {} } = useSettings()
  const act = useAct()
  const [report, setReport] = useState<PruneReport | null>(null)
  const prune = (dryRun: boolean) => act.run(async () => setReport(await client.prune({ dryRun })))
  return (
    <div className="rounded-lg border border-line bg-surface px-3 py-2">
      <dl>
        {Object.entries(KINDS).map(([key, word]) => {
          const kept = keep[key as keyof typeof KINDS]
          return kept === undefined ? null : (
            <Fact key={key} name={word}>
              {kept === 'forever' ? 'kept for ever' : `kept for ${kept}`}
            </Fact>
          )
        })}
        {report && <Fact name="database">{formatBytes(report.databaseBytes)}</Fact>}
      </dl>
      {report && (
        <p role="status" className="mt-1 text-small">
          {report.dryRun ? 'Could go now: ' : 'Deleted: '}
          {report.items.length === 0
            ? 'nothing.'
            : report.items
                .map(({ kind, count, bytes }) => `${formatCount(count)} ${kind} (${formatBytes(bytes)})`)
                .join(', ')}
        </p>
      )}
      <div className="mt-2 flex gap-2">
        <Button busy={act.busy} onClick={() => void prune(true)}>
          What is old?
        </Button>
        {report?.dryRun && report.items.length > 0 && (
          <Button kind="danger" busy={act.busy} onClick={() => void prune(false)}>
            Delete it now
          </Button>
        )}
      </div>
      {act.error !== null && <ErrorBox error={act.error} />}
    </div>
  )
}

/** The limits of this daemon; those of the accounts are reported by the agents. */
export function Limits() {
  const { run = {}, jobs = {} } = useSettings()
  return (
    <dl className="mb-2 rounded-lg border border-line bg-surface px-3 py-2">
      <Fact name="at a time">
        {run.concurrency ?? '–'} runs, {jobs.perWorkDir ?? '–'} per directory
      </Fact>
      {run.maxDuration !== undefined && <Fact name="an attempt">at most {run.maxDuration}</Fact>}
      {run.questionTimeout !== undefined && (
        <Fact name="a question">waits {run.questionTimeout} for an answer</Fact>
      )}
    </dl>
  )
}
