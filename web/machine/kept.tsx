/** The processes of agents that wait for the next message, so that it is answered sooner. */
import { Link } from '@tanstack/react-router'
import type { KeptProcessInfo } from '../../src/contract/kept.ts'
import { formatBytes } from '../format/amounts.ts'
import { shortId } from '../format/text.ts'
import { Rows } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'

export function Kept({ processes }: { processes: readonly KeptProcessInfo[] }) {
  return (
    <Rows label="Kept processes">
      {processes.map((one) => (
        <li key={one.id} className="flex min-h-10 flex-wrap items-center gap-x-3 px-3 py-1.5">
          <span className="font-medium">{one.agent}</span>
          {one.conversationId ? (
            <Link
              to="/conversations/$id"
              params={{ id: one.conversationId }}
              className="text-accent hover:underline"
            >
              conversation <code>{shortId(one.conversationId)}</code>
            </Link>
          ) : (
            <Link to="/sessions/$id" params={{ id: one.sessionId }} className="text-accent hover:underline">
              session <code>{shortId(one.sessionId)}</code>
            </Link>
          )}
          <span className="text-muted">
            {one.preStarted ? 'started ahead' : 'last turn ended'} <Ago at={one.since} />
          </span>
          <span className="ml-auto text-small text-muted">
            {one.memoryBytes !== null && `${formatBytes(one.memoryBytes)}, `}
            {one.pid !== null && `pid ${one.pid}, `}
            ends <Ago at={one.until} />
          </span>
        </li>
      ))}
    </Rows>
  )
}
