/** The frame around every page: navigation, what needs a person, today's cost, and the state of the connection. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useRouterState } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { setAsks, useConnection, useRestart } from '../data/hooks.ts'
import { follow } from '../data/live.ts'
import { overviewQuery } from '../data/queries.ts'
import { formatCost } from '../format/amounts.ts'
import { formatSpan } from '../format/time.ts'
import { Copyable } from './base.tsx'
import { useNow } from './clock.tsx'
import { useKeepFocus } from './keep-focus.ts'
import { HelpDialog, useKeys } from './keys.tsx'
import { PLACES } from './places.ts'

const Palette = lazy(() => import('./palette.tsx'))

const ON_PHONES = 4

export function Frame({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const connection = useConnection()
  const navigate = useNavigate()
  const [palette, setPalette] = useState(false)
  const [help, setHelp] = useState(false)
  useEffect(() => follow(queries), [queries])
  useEffect(() => {
    if (connection.at === 'signed-out') void navigate({ to: '/sign-in' })
  }, [connection, navigate])
  useKeepFocus()
  useKeys({ openPalette: () => setPalette(true), openHelp: () => setHelp(true) })
  return (
    <div className="flex h-dvh flex-col">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-surface focus:p-2"
      >
        Skip to the page
      </a>
      <Header onSearch={() => setPalette(true)} />
      <Banner />
      <div className="flex min-h-0 flex-1">
        <nav
          aria-label="Pages"
          className="hidden w-44 shrink-0 flex-col gap-0.5 border-r border-line p-2 md:flex"
        >
          {PLACES.map(({ to, name }) => (
            <NavLink key={to} to={to} name={name} />
          ))}
          <button
            type="button"
            onClick={() => setHelp(true)}
            className="mt-auto rounded-md px-2 py-1 text-left text-label text-muted hover:bg-raised"
          >
            <kbd>?</kbd> keys
          </button>
        </nav>
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 overflow-y-auto outline-none">
          {children}
        </main>
      </div>
      <BottomBar />
      {palette && (
        <Suspense fallback={null}>
          <Palette onClose={() => setPalette(false)} />
        </Suspense>
      )}
      <HelpDialog open={help} onClose={() => setHelp(false)} />
    </div>
  )
}

function NavLink({ to, name }: { to: (typeof PLACES)[number]['to']; name: string }) {
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === '/' }}
      className="rounded-md px-2 py-1.5 text-muted hover:bg-raised hover:text-text"
      activeProps={{ className: 'bg-raised font-medium !text-text', 'aria-current': 'page' }}
    >
      {name}
    </Link>
  )
}

function Header({ onSearch }: { onSearch: () => void }) {
  const { data } = useQuery(overviewQuery())
  const asks = data?.needsYou.length ?? 0
  const cost = data?.costs.reduce((sum, { costUsd }) => sum + costUsd, 0)
  useEffect(() => setAsks(asks), [asks])
  return (
    <header className="flex h-11 shrink-0 items-center gap-3 border-b border-line px-3">
      <Link to="/" className="flex items-center gap-2 font-semibold md:w-40">
        <img src="/icon.svg" alt="" width={20} height={20} />
        <span className="max-sm:sr-only">Reprise</span>
      </Link>
      <button
        type="button"
        onClick={onSearch}
        className="flex h-7 max-w-80 min-w-0 flex-1 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-left text-small text-muted hover:bg-raised max-sm:h-9"
      >
        <span className="truncate">Search or do…</span>
        <kbd className="ml-auto text-label max-sm:hidden">Ctrl K</kbd>
      </button>
      <div className="ml-auto flex items-center gap-4 whitespace-nowrap">
        <span aria-live="polite">
          {asks > 0 && (
            <Link to="/" className="rounded-md bg-ask-soft px-2 py-1 font-medium text-ask">
              ◆ {asks} <span className="max-sm:sr-only">{asks === 1 ? 'needs you' : 'need you'}</span>
            </Link>
          )}
        </span>
        {cost !== undefined && (
          <Link
            to="/costs"
            className="text-muted hover:text-text max-sm:hidden"
            title={
              data?.simulated.length
                ? `${data.simulated.join(', ')} talks to the simulator: nothing is paid.`
                : 'Cost of the runs that ended today'
            }
          >
            {formatCost(cost)} today
            {data?.simulated.length ? ', simulated' : ''}
          </Link>
        )}
        <ConnectionState />
      </div>
    </header>
  )
}

function ConnectionState() {
  const connection = useConnection()
  if (connection.at === 'live') return <span className="text-ok">● live</span>
  if (connection.at === 'lost') return <span className="text-fail">✕ disconnected</span>
  return <span className="text-muted">○ connecting</span>
}

const SHOW_RESTART_MS = 20_000

function Banner() {
  const connection = useConnection()
  const restartedAt = useRestart()
  const now = useNow()
  const { data: overview } = useQuery(overviewQuery())
  if (connection.at === 'lost') {
    return (
      <p role="alert" className="border-b border-line bg-fail-soft px-3 py-1.5 text-fail">
        No connection to the daemon for {formatSpan(Math.max(1000, now - connection.since))}. What you see may
        be old; it continues by itself once the daemon answers.
      </p>
    )
  }
  const simulated = overview?.simulated ?? []
  if (restartedAt !== null && Date.now() - restartedAt < SHOW_RESTART_MS) {
    return (
      <p role="status" className="border-b border-line bg-wait-soft px-3 py-1.5 text-wait">
        The daemon was restarted. Everything is up to date again.
      </p>
    )
  }
  if (simulated.length > 0) {
    return (
      <p role="note" className="border-b border-line bg-wait-soft px-3 py-1 text-small text-wait">
        {simulated.join(', ')} talks to the built-in simulator: answers are scripted, and costs are not real.{' '}
        <Copyable text="reprise doctor" /> says what is missing.
      </p>
    )
  }
  return null
}

/** On a phone: four pages, and the others under "More". */
function BottomBar() {
  const [more, setMore] = useState(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const { data } = useQuery(overviewQuery())
  const asks = data?.needsYou.length ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: going to a page closes the menu.
  useEffect(() => setMore(false), [path])
  const style =
    'flex min-h-12 flex-1 flex-col items-center justify-center text-label text-muted aria-[current=page]:text-text aria-[current=page]:font-semibold'
  return (
    <nav
      aria-label="Pages"
      className="relative flex shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {PLACES.slice(0, ON_PHONES).map(({ to, name }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === '/' }}
          className={style}
          activeProps={{ 'aria-current': 'page' }}
        >
          <span>
            {name === 'Conversations' ? 'Chats' : name}
            {to === '/' && asks > 0 && <span className="ml-1 text-ask">◆{asks}</span>}
          </span>
        </Link>
      ))}
      <button type="button" aria-expanded={more} onClick={() => setMore(!more)} className={style}>
        More
      </button>
      {more && (
        <div className="absolute right-2 bottom-full mb-2 flex w-44 flex-col rounded-lg border border-line bg-surface p-1 shadow-lg">
          {PLACES.slice(ON_PHONES).map(({ to, name }) => (
            <Link key={to} to={to} className="rounded-md px-3 py-2.5 hover:bg-raised">
              {name}
            </Link>
          ))}
        </div>
      )}
    </nav>
  )
}

/** Every page has the same width, so that nothing moves sideways from page to page. */
export function Page({ children }: { children: ReactNode }) {
  return <div className="mx-auto max-w-[1400px] px-4 py-4 md:px-6">{children}</div>
}
