/** How much of their limits the accounts have used, as the agents have reported it. */
import type { Status } from '../../src/contract/http.ts'
import { formatPercent } from '../format/amounts.ts'
import { inert } from '../format/text.ts'
import { Rows } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'

export function Quotas({ status }: { status: Status }) {
  return (
    <Rows label="Quotas">
      {status.quotas.map((quota) => (
        <li key={quota.account} className="px-3 py-2">
          <p className="mb-1">
            {quota.agents.join(', ')}{' '}
            <span className="text-muted">
              as reported <Ago at={quota.at} />
            </span>
          </p>
          {quota.windows.map((window) => (
            <div key={window.name} className="flex items-center gap-2 text-small">
              <span className="w-28 truncate text-muted">{inert(window.name).replaceAll('_', ' ')}</span>
              <span className="h-1.5 flex-1 overflow-hidden rounded-full bg-line">
                <span
                  className={`block h-full ${window.used > 0.8 ? 'bg-ask' : 'bg-accent'}`}
                  style={{ width: `${Math.min(100, window.used * 100)}%` }}
                />
              </span>
              <span className="w-10 text-right">{formatPercent(window.used)}</span>
              {window.resetsAt && (
                <span className="text-muted">
                  resets <Ago at={window.resetsAt} />
                </span>
              )}
            </div>
          ))}
        </li>
      ))}
    </Rows>
  )
}
