/** Who may call the daemon, and what they did. */
import { useQuery } from '@tanstack/react-query'
import { client } from '../data/client.ts'
import { auditQuery, tokensQuery } from '../data/queries.ts'
import { inert, shorten, shortId } from '../format/text.ts'
import { useAct } from '../parts/act.ts'
import { wordOf } from '../parts/audit.tsx'
import { Badge, Button, Copyable, ErrorBox, Rows, Skeleton } from '../parts/base.tsx'
import { Ago } from '../parts/clock.tsx'

const KIND_WORDS = { 'command-line': 'command line', link: 'link', page: 'page', named: 'token' } as const

export function Tokens() {
  const { data, error } = useQuery(tokensQuery())
  const act = useAct()
  if (error) return <ErrorBox error={error} />
  if (!data) return <Skeleton rows={2} />
  return (
    <>
      <Rows label="Tokens">
        {data.map((token) => (
          <li key={token.id} className="flex min-h-10 flex-wrap items-center gap-x-3 px-3 py-1.5">
            <span className="font-medium">{inert(token.name) || KIND_WORDS[token.kind]}</span>
            {token.current && <Badge standing="done">this browser</Badge>}
            {token.name !== '' && token.kind !== 'command-line' && (
              <span className="text-muted">{KIND_WORDS[token.kind]}</span>
            )}
            <Badge>{token.scope}</Badge>
            <span className="ml-auto text-small text-muted">
              {token.lastUsedAt ? (
                <>
                  used <Ago at={token.lastUsedAt} />
                  {token.lastUsedFrom && ` from ${token.lastUsedFrom}`}
                </>
              ) : (
                <>
                  never used, made <Ago at={token.createdAt} />
                </>
              )}
            </span>
            {token.kind !== 'command-line' && (
              <Button
                kind="danger"
                busy={act.busy}
                onClick={() => void act.run(() => client.revokeToken(token.id))}
              >
                Revoke
              </Button>
            )}
          </li>
        ))}
      </Rows>
      {act.error !== null && <ErrorBox error={act.error} />}
      <p className="mt-2 text-small text-muted">
        Another browser, or a phone: <Copyable text="reprise open --print --name phone" />
      </p>
    </>
  )
}

export function Recent() {
  const { data = [] } = useQuery(auditQuery())
  if (data.length === 0) return <p className="text-muted">Nobody has changed anything yet.</p>
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface text-small">
      {data.slice(0, 20).map((entry) => (
        <li key={entry.id} className="flex flex-wrap items-center gap-x-2 px-3 py-1.5">
          <span className="font-medium">{inert(entry.who)}</span>
          <span className="text-muted">{wordOf(entry)}</span>
          {entry.summary && <span>“{shorten(entry.summary, 60)}”</span>}
          {entry.subject && <code className="text-muted">{shortId(entry.subject)}</code>}
          <span className="ml-auto text-muted">
            <Ago at={entry.at} />
            {entry.from && ` from ${entry.from}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
