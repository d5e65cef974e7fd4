/**
 * Keeps what is shown up to date. A change names what changed; the queries that show it are asked again, a few times a
 * second at most. A lost connection is shown and tried again for as long as the page is open.
 *
 *   connecting ──→ live ⇄ lost        lost: what is shown is kept, and its age is said
 *            └──→ signed-out          the daemon does not accept this browser (any more)
 *
 * The page is live once changes arrive and it knows which start of the daemon sends them; so whoever saw it live is
 * told of a restart.
 *
 * A browser opens only six connections to one host, for all tabs together. So one tab reads the changes and passes them
 * on; when it is closed, another one continues after the last change that it has seen (shared-feed.ts).
 *
 * Invariant: after a loss, either all missed changes arrive, or one `reload`, after which everything is asked again.
 */
import type { QueryClient } from '@tanstack/react-query'
import type { Change } from '../../src/client/index.ts'
import { askAgain } from './ask-again.ts'
import { client } from './client.ts'
import { type FeedState, shareFeed } from './shared-feed.ts'

export type Connection = { at: 'connecting' } | { at: 'lost'; since: number } | { at: 'live' | 'signed-out' }

let connection: Connection = { at: 'connecting' }
let daemonStartedAt: string | null = null
let restartedAt: number | null = null
const listeners = new Set<() => void>()

export const readConnection = () => connection
/** When this page noticed that the daemon was restarted; null: it was not. */
export const readRestart = () => restartedAt
export function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function set(at: FeedState): void {
  if (connection.at === at) return
  connection = at === 'lost' ? { at, since: Date.now() } : { at }
  for (const listener of listeners) listener()
}

/**
 * The first part of the keys of queries that show something of this kind. Requests of people are no changes themselves:
 * `audit` is asked again when something changed that they can be about.
 */
const SHOWN_IN: Readonly<Record<Change['kind'], readonly string[]>> = {
  run: ['overview', 'run', 'runs', 'chain', 'cycle', 'job', 'status', 'plan', 'session', 'costs', 'audit'],
  job: ['overview', 'job', 'jobs', 'audit'],
  conversation: ['conversation', 'conversations', 'plan', 'audit'],
  message: ['conversation', 'plan'],
  session: ['session', 'sessions', 'audit'],
  question: ['overview', 'run', 'runs', 'job', 'chain', 'cycle', 'audit'],
  approval: ['overview', 'chain', 'cycle', 'run', 'audit'],
  watch: ['overview', 'watches', 'watch', 'audit'],
  cycle: ['overview', 'cycle', 'cycles', 'watches', 'watch', 'audit'],
  'follow-up': ['overview', 'cycle', 'run', 'follow-ups', 'session', 'audit'],
  obstacle: ['overview', 'status'],
  notification: [],
}
/** Queries about one thing need not be asked again when another one of its kind changed. */
const BY_ID: Partial<Readonly<Record<Change['kind'], string>>> = {
  job: 'job',
  conversation: 'conversation',
  session: 'session',
}

const GATHER_MS = 200
const ASK_AGAIN_MS = 1000

export function follow(queries: QueryClient): () => void {
  const stale = new Map<string, Set<string> | null>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let feed: FeedState = 'lost'
  const flush = () => {
    timer = undefined
    for (const [name, ids] of stale) {
      if (ids === null) askAgain(queries, [name])
      else for (const id of ids) askAgain(queries, [name, id])
    }
    stale.clear()
  }
  const note = (change: Change) => {
    for (const name of SHOWN_IN[change.kind]) {
      const ids = stale.get(name)
      if (name !== BY_ID[change.kind] || ids === null) stale.set(name, null)
      else stale.set(name, (ids ?? new Set()).add(change.id))
    }
    timer ??= setTimeout(flush, GATHER_MS)
  }
  const confirm = async () => {
    while (feed === 'live' && connection.at !== 'live') {
      if (await noteDaemon(queries)) {
        if (feed === 'live') set('live')
      } else await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    }
  }
  const stop = shareFeed({
    onChange: (change) => {
      if ('reload' in change) askAgain(queries)
      else note(change)
    },
    onState: (state) => {
      feed = state
      if (state === 'live') void confirm()
      else set(state)
    },
  })
  return () => {
    stop()
    feed = 'lost'
    clearTimeout(timer)
    connection = { at: 'connecting' }
  }
}

/** A new connection may be to a new daemon. False: it did not respond. */
async function noteDaemon(queries: QueryClient): Promise<boolean> {
  try {
    const { startedAt } = await client.health()
    const restarted = daemonStartedAt !== null && daemonStartedAt !== startedAt
    daemonStartedAt = startedAt
    if (!restarted) return true
    restartedAt = Date.now()
    for (const listener of listeners) listener()
    askAgain(queries)
    return true
  } catch {
    return false
  }
}
