/** What a tier was told and did, step by step, each with its time on the axis of the whole incident. */
import type { ChainRun } from '../../src/contract/chain.ts'
import { useEvents } from '../data/run-events.ts'
import { inert, shorten } from '../format/text.ts'
import { formatClockSeconds, formatExact, formatSpan } from '../format/time.ts'
import { Badge, Mark } from '../parts/base.tsx'
import { useNow } from '../parts/clock.tsx'
import { Told } from '../transcript/told.tsx'
import { type Step, Steps } from './steps.ts'

export interface Axis {
  from: number
  /** null: it goes on. */
  to: number | null
}

const MAX_SHOWN = 40
const create = () => new Steps()

export function StepList({ run, axis }: { run: ChainRun; axis: Axis }) {
  const { steps, told } = useEvents({ runId: run.id }, create).log.reader
  if (steps.length + told.length === 0) return null
  const hidden = Math.max(0, steps.length - MAX_SHOWN)
  return (
    <div className="mt-1.5 border-t border-line pt-1.5">
      <Told texts={told} />
      <ol aria-label="What it did" className="text-small">
        {hidden > 0 && <li className="text-muted">{hidden} earlier steps are in the run.</li>}
        {steps.slice(hidden).map((step) => (
          <StepLine key={step.key} step={step} axis={axis} />
        ))}
      </ol>
    </div>
  )
}

function StepLine({ step, axis }: { step: Step; axis: Axis }) {
  const now = useNow()
  const { startedAt, endedAt, failed } = step
  const to = Math.max(axis.to ?? now, axis.from + 1)
  const at = (time: number) => Math.min(100, Math.max(0, ((time - axis.from) / (to - axis.from)) * 100))
  const [left, right] = [at(startedAt), at(endedAt ?? now)]
  const time = new Date(startedAt).toISOString()
  return (
    <li className="flex min-h-6 items-center gap-2">
      <time className="w-16 shrink-0 text-label text-muted max-sm:hidden" title={formatExact(time)}>
        {formatClockSeconds(time)}
      </time>
      <Mark standing={endedAt === null ? 'work' : failed ? 'fail' : 'done'} />
      <span className="shrink-0">{inert(step.name)}</span>
      <code className="min-w-0 flex-1 truncate text-muted" title={inert(step.about).slice(0, 500)}>
        {shorten(step.about, 120)}
      </code>
      {step.kind === 'broker' && <Badge>broker</Badge>}
      <span aria-hidden="true" className="relative h-1.5 w-24 shrink-0 rounded-sm bg-raised max-md:hidden">
        <span
          className={`absolute h-full rounded-sm ${failed ? 'bg-fail' : 'bg-accent'}`}
          style={{ left: `${Math.min(left, 98)}%`, width: `${Math.max(2, right - left)}%` }}
        />
      </span>
      <span className="w-10 shrink-0 text-right text-muted">
        {step.kind === 'answer' ? '' : formatSpan((endedAt ?? now) - startedAt)}
      </span>
    </li>
  )
}
