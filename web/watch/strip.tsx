/** The last outcomes of a watch as a row of marks, oldest first. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { cyclesQuery } from '../data/queries.ts'
import { formatCost } from '../format/amounts.ts'
import { formatExact } from '../format/time.ts'
import { standingOfCycle, wordOfCycle } from './words.ts'

const FILL = {
  work: 'bg-accent',
  wait: 'bg-wait',
  ask: 'bg-ask',
  fail: 'bg-fail',
  done: 'bg-ok',
  off: 'bg-line',
} as const
const HEIGHT = { work: 'h-4', wait: 'h-3', ask: 'h-4', fail: 'h-4', done: 'h-2.5', off: 'h-1.5' } as const

export function Strip({ watch, length = 24 }: { watch: string; length?: number }) {
  const { data = [] } = useQuery(cyclesQuery(watch, length))
  return (
    <span className="inline-flex h-5 items-end gap-px">
      {data.toReversed().map((cycle) => {
        const standing = standingOfCycle(cycle)
        const words = `#${cycle.number} ${cycle.status ?? wordOfCycle(cycle)}, ${formatExact(cycle.dueAt)}, ${formatCost(cycle.costUsd)}`
        return (
          <Link
            key={cycle.id}
            to="/cycles/$id"
            params={{ id: cycle.id }}
            title={words}
            aria-label={words}
            className="flex h-5 w-1.5 items-end"
          >
            <span className={`w-full rounded-[1px] ${FILL[standing]} ${HEIGHT[standing]}`} />
          </Link>
        )
      })}
    </span>
  )
}
