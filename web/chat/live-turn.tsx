/** The answer while it is written, with what it asks; and turns that wait. */
import { Link } from '@tanstack/react-router'
import type { Run } from '../../src/contract/run.ts'
import { client } from '../data/client.ts'
import { inert } from '../format/text.ts'
import { withLocalTimes } from '../format/time.ts'
import { OUTCOME_WORDS } from '../format/words.ts'
import { useAct } from '../parts/act.ts'
import { Ask } from '../parts/asks.tsx'
import { Button, ErrorBox } from '../parts/base.tsx'
import { Ago, Elapsed } from '../parts/clock.tsx'
import { useTranscript } from '../transcript/use-transcript.ts'
import { ItemView } from '../transcript/view.tsx'
import { agentHue } from './message.tsx'

/** A turn with more items is looked at on the page of its run. */
const MAX_ITEMS = 300

export function LiveTurn({ run }: { run: Run }) {
  const asked = new Set(run.pending.map(({ toolUseId }) => toolUseId))
  const items = useTranscript({ runId: run.id }).items.filter(
    (item) =>
      item.kind !== 'attempt' &&
      item.kind !== 'end' &&
      !(item.kind === 'tool' && asked.has(item.id)) &&
      !(item.kind === 'line' && item.asks !== undefined && asked.has(item.asks)),
  )
  const act = useAct()
  return (
    <article
      aria-label={`${run.agent} is answering`}
      className="mt-3 border-l-2 pl-3"
      style={{ borderColor: `hsl(${agentHue(run.agent)} 45% 55%)` }}
    >
      <header className="flex min-h-7 items-center gap-2 text-small">
        <span className="font-semibold">{run.agent}</span>
        {run.pending.length > 0 ? (
          <span className="text-ask">◆ asks you</span>
        ) : (
          <span className="text-accent">● at work</span>
        )}
        {run.startedAt && (
          <span className="text-muted">
            <Elapsed from={run.startedAt} />
          </span>
        )}
        <Link to="/runs/$id" params={{ id: run.id }} className="text-muted hover:text-text hover:underline">
          run
        </Link>
        <Button
          kind="danger"
          className="ml-auto"
          busy={act.busy}
          onClick={() => void act.run(() => client.cancelRun(run.id))}
        >
          Stop
        </Button>
      </header>
      <div className="-ml-2">
        {items.length > MAX_ITEMS && (
          <p className="px-2 text-muted">{items.length - MAX_ITEMS} earlier steps are in the run.</p>
        )}
        {items.slice(-MAX_ITEMS).map((item) => (
          <ItemView key={item.key} item={item} live />
        ))}
      </div>
      {run.pending.map((ask) => (
        <div key={ask.toolUseId} className="mt-2 rounded-lg border border-ask bg-surface p-3">
          <p className="mb-2 font-medium text-ask">
            ◆ {ask.kind === 'permission' ? `Asks to use ${inert(ask.tool ?? 'a tool')}` : 'Asks you'}
          </p>
          <Ask runId={run.id} ask={ask} workDir={run.workDir} />
        </div>
      ))}
      {act.error !== null && <ErrorBox error={act.error} />}
    </article>
  )
}

/** A question whose answer has not begun, or that ended without one. */
export function QueuedTurn({ run }: { run: Run }) {
  const act = useAct()
  const settled = run.state === 'settled'
  return (
    <p className="mt-2 flex flex-wrap items-center gap-2 pl-3 text-small text-muted">
      {settled ? (
        <span className={run.outcome === 'cancelled' ? '' : 'text-fail'}>
          {run.outcome === 'cancelled' ? '○ stopped' : `✕ ${OUTCOME_WORDS[run.outcome ?? 'crashed']}`}
        </span>
      ) : (
        <span className="text-wait">◐ {run.notBefore ? 'waits' : 'queued'}</span>
      )}
      {run.message && <span className="min-w-0">{withLocalTimes(inert(run.message)).slice(0, 300)}</span>}
      {run.notBefore && !settled && (
        <span>
          goes on <Ago at={run.notBefore} />
        </span>
      )}
      {!settled && (
        <Button kind="bare" busy={act.busy} onClick={() => void act.run(() => client.cancelRun(run.id))}>
          Cancel
        </Button>
      )}
    </p>
  )
}
