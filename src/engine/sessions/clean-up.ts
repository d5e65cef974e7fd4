/**
 * Looks at idle sessions every five minutes and at start: pauses and expires them (core/session/lifecycle.ts), and
 * archives those that are over. Each step is guarded in the store, so a repeated look, or one that a crash cut off, does
 * nothing twice. Nothing is deleted, and a session that is used meanwhile is left alone.
 */
import type { Clock } from '../../core/clock.ts'
import { isArchivable, type LifecycleLimits } from '../../core/session/lifecycle.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'

export interface CleanUpDeps {
  store: Pick<Store, 'listIdleSessions' | 'moveSession' | 'noteArchived'>
  clock: Clock
  log: Log
  /**
   * Called once for each session that is over, before it is recorded as archived. Returns false if that did not work; it is
   * called again at the next look.
   */
  archiveSession?: (session: SessionRecord) => Promise<boolean>
  settings: { sessions: LifecycleLimits }
}

const LOOK_EVERY_MS = 5 * 60_000
const PAGE = 200

/** Looks now and every five minutes. Returns a function that stops it. */
export function startCleanUp(deps: CleanUpDeps): () => void {
  let looking = false
  const look = () => {
    if (looking) return
    looking = true
    cleanUpSessions(deps)
      .catch((error) => deps.log.warn({ error: String(error) }, 'could not look at idle sessions'))
      .finally(() => {
        looking = false
      })
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  look()
  return () => clearInterval(timer)
}

export async function cleanUpSessions(deps: CleanUpDeps): Promise<void> {
  const { store, clock, settings } = deps
  const { pauseAfterMs, idleTimeoutMs } = settings.sessions
  const before = new Date(clock.now().getTime() - Math.min(pauseAfterMs, idleTimeoutMs))
  for (let after: SessionRecord | null = null; ; ) {
    const page: SessionRecord[] = await store.listIdleSessions({ before, after, limit: PAGE })
    for (const session of page) await look(deps, session)
    after = page.at(-1) ?? null
    if (page.length < PAGE) return
  }
}

async function look(deps: CleanUpDeps, session: SessionRecord): Promise<void> {
  const { store, clock, log, settings } = deps
  const limits = settings.sessions
  const trigger = { kind: 'look', limits } as const
  const now = clock.now()
  // A session may take two steps at once: active → paused → expired.
  let { state } = session
  for (;;) {
    const next = await store.moveSession(session.id, trigger, now)
    if (next === null) return
    if (next === state) break
    state = next
  }
  const seen = { ...session, state }
  if (!isArchivable({ ...seen, lastActivityAt: session.lastUsedAt, inUse: false }, limits, now)) return
  try {
    const isArchived = (await deps.archiveSession?.(seen)) ?? true
    if (isArchived) await store.noteArchived(seen, now)
  } catch (error) {
    log.warn({ session: session.id, error: String(error) }, 'could not archive a session')
  }
}
