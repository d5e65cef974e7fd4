/** The decisions of people about directories: whether an agent may use their settings, hooks and servers. */
import { useQuery } from '@tanstack/react-query'
import { trustQuery } from '../data/queries.ts'
import { plural } from '../format/amounts.ts'
import { Empty, ErrorBox, Middle, Rows, Skeleton, StateWord } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'

export function Trusted() {
  const { data, error, refetch } = useQuery(trustQuery())
  if (error) return <ErrorBox error={error} retry={() => void refetch()} />
  if (!data) return <Skeleton rows={1} />
  if (data.length === 0) {
    return (
      <Empty command="reprise trust .">
        No directory is trusted: agents go without the hooks, servers and permissions of work directories.
      </Empty>
    )
  }
  return (
    <Rows label="Trusted directories">
      {data.map(({ dir, decision, files, decidedAt }) => (
        <li key={dir} className="flex min-h-10 flex-wrap items-center gap-x-3 px-3 py-1.5">
          <StateWord standing={decision === 'trust' ? 'done' : 'off'}>
            {decision === 'trust' ? 'trusted' : 'declined'}
          </StateWord>
          <Middle text={dir} max={48} mono />
          <span className="ml-auto text-small text-muted">
            <span title={files.join('\n')}>{plural(files.length, 'file')}</span>, <Ago at={decidedAt} />
          </span>
        </li>
      ))}
    </Rows>
  )
}
