/**
 * Flushes SQLite's write-ahead log. With `synchronous = normal` a commit is written to the log and not waited for; once
 * the log is flushed it is as safe as with `full`. Done here, the wait is a thread's and not the daemon's.
 *
 * The log is there from the first use of the database to the end of the last connection, and is the same file
 * throughout. Unlike the database itself it is never locked, so opening it beside SQLite harms nothing.
 */
import { open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema.ts'

const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 5000

export interface LogFlusher {
  flush: () => Promise<void>
  close: () => Promise<void>
}

export async function openLog(path: string, writer: Kysely<Tables>): Promise<LogFlusher> {
  const log = await open(`${path}-wal`, 'r')
  return {
    flush: () => log.datasync().catch(() => copyOver(writer)),
    close: () => log.close(),
  }
}

/**
 * A log whose flush has failed cannot be trusted, nor flushed again: what it holds is written to the database itself,
 * which is flushed too. Until that works nobody is told that anything was stored.
 */
async function copyOver(writer: Kysely<Tables>): Promise<void> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(writer)
      if (rows[0]?.busy === 0) return
    } catch {
      // The disk is in trouble still.
    }
    await delay(waitMs)
  }
}
