/** Checks what is on disk after a round: the database, and the spool files that its events must agree with. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseClaudeLine } from '../../src/agents/claude/parse.ts'
import type { EventBody, EventType, RunEvent } from '../../src/contract/events.ts'
import type { Settled, Tell } from './settled.ts'

export function checkDatabase(path: string, settled: readonly Settled[], tell: Tell): void {
  const database = new DatabaseSync(path, { readOnly: true })
  const count = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0])
  try {
    const verdict = database.prepare('pragma integrity_check').all()
    if (verdict.length !== 1 || verdict[0]?.integrity_check !== 'ok')
      tell(`database: ${JSON.stringify(verdict)}`)
    const held = count('select count(*) from leases where process_id is not null or run_id is not null')
    if (held > 0) tell(`database: ${held} leases are still held`)
    const open = count("select count(*) from attempts where state <> 'ended'")
    if (open > 0) tell(`database: ${open} attempts have not ended`)
    const unfinished = count("select count(*) from jobs where state in ('queued', 'running', 'waiting')")
    if (unfinished > 0) tell(`database: ${unfinished} jobs are still open`)
    const counted = count('select coalesce(sum(runs), 0) from totals')
    if (counted !== settled.length) tell(`database: the totals count ${counted} runs, not ${settled.length}`)
    const spent = count(
      'select coalesce((select sum(cost_usd) from totals), 0) - coalesce(sum(cost_usd), 0) from runs',
    )
    if (Math.abs(spent) > 1e-6) tell(`database: the totals and the runs differ by ${spent} USD`)
    const processes = count("select count(*) from processes where state <> 'gone'")
    if (processes > 0) tell(`database: ${processes} processes have not ended`)
    const asking = count('select count(*) from questions where closed_at is null')
    if (asking > 0) tell(`database: ${asking} questions are still open`)
    const events = count('select count(*) from events')
    const seen = settled.reduce((sum, one) => sum + one.events.length, 0)
    if (events !== seen) tell(`database: ${events} events are stored, the API returned ${seen}`)
  } finally {
    database.close()
  }
}

const OWN: ReadonlySet<EventType> = new Set([
  'attempt-start',
  'attempt-end',
  'run-end',
  'note',
  'stop-request',
  'question-answer',
  'message',
  'context-add',
  'left-out',
] as const)

/** Whether Reprise itself added it; all others come from the agent's output. */
export const isOwn = (event: RunEvent) =>
  OWN.has(event.type) || (event.type === 'gap' && event.reason === 'disk-full')

const isDelta = ({ type }: { type: string }) => type.endsWith('-delta')

/**
 * Streamed pieces are split at other places than the agent's, so that no secret is split, and the last of them may be
 * lost with a daemon: the whole text follows. But none may be invented, repeated or out of order.
 */
function checkDeltas(stored: readonly EventBody[], printed: readonly EventBody[], tell: Tell): void {
  for (const type of ['text-delta', 'thinking-delta', 'tool-input-delta'] as const) {
    const textsOf = (bodies: readonly EventBody[]) =>
      bodies.flatMap((body) => (body.type === type ? [body.text] : []))
    const whole = textsOf(printed).join('')
    let from = 0
    for (const text of textsOf(stored)) {
      const at = whole.indexOf(text, from)
      if (at === -1) {
        tell(`a ${type} is stored that was not printed there: ${text.slice(0, 120)}`)
        break
      }
      from = at + text.length
    }
  }
}

/** The part of a spool file that an attempt printed. A kept process has several attempts. */
export interface SpoolRange {
  attemptId: string
  /** The folder of the process. */
  spool: string
  from: number
  /** Undefined for the last attempt of the process. */
  to: number | undefined
  /** It is the last attempt of a process that was kept. */
  isLastKept: boolean
}

const isNative = (body: string | undefined) => body?.includes('"type":"native"') === true

export function readRanges(path: string): SpoolRange[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = database
      .prepare(
        'select a.id, a.process_id, a.spool_from, p.spool, p.conversation_id from attempts a join processes p on p.id = a.process_id order by a.process_id, a.spool_from, a.started_at',
      )
      .all()
    return rows.map((row, index) => {
      const next = rows[index + 1]
      const isLast = next?.process_id !== row.process_id
      return {
        attemptId: String(row.id),
        spool: String(row.spool),
        from: Number(row.spool_from),
        to: isLast ? undefined : Number(next?.spool_from),
        isLastKept: isLast && row.conversation_id !== null,
      }
    })
  } finally {
    database.close()
  }
}

/** I2: every line that the agent printed is stored, once and in order. */
export function checkSpool(
  spool: string,
  ranges: readonly SpoolRange[],
  { tag, run, events }: Settled,
  tell: Tell,
): void {
  for (const attempt of run.attempts) {
    const own = events.filter((event) => event.attemptId === attempt.id && !isOwn(event))
    const range = ranges.find(({ attemptId }) => attemptId === attempt.id)
    const lines = range ? readLines(spool, range).flatMap((line) => parseClaudeLine(line)) : []
    checkDeltas(own, lines, (what) => tell(`${tag} (${run.id}), attempt ${attempt.id}: ${what}`))
    const stored = own.filter((event) => !isDelta(event)).map(bodyOf)
    const printed = lines.filter((body) => !isDelta(body)).map((body) => JSON.stringify(sorted(body)))
    // A kept process says that its turn is over, and that it ends, when its last attempt has ended already.
    while (range?.isLastKept && printed.length > stored.length && isNative(printed.at(-1))) printed.pop()
    const at = printed.findIndex((body, index) => body !== stored[index])
    if (at === -1 && stored.length === printed.length) continue
    tell(
      `${tag} (${run.id}), attempt ${attempt.id}: ${stored.length} events are stored of ${printed.length} printed; they differ from number ${at === -1 ? printed.length : at}: ${printed[at]?.slice(0, 120)} / ${stored[at === -1 ? printed.length : at]?.slice(0, 120)}`,
    )
  }
}

function bodyOf({ runId: _run, seq: _seq, attemptId: _attempt, at: _at, ...body }: RunEvent): string {
  return JSON.stringify(sorted(body))
}

/** Sorts keys, so that texts can be compared. Undefined values are absent once stored. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}

/** Without a file, the attempt was revoked before the agent was started. */
function readLines(folder: string, { spool, from, to }: SpoolRange): string[] {
  try {
    const bytes = readFileSync(join(folder, spool, 'out')).subarray(from, to)
    return bytes.toString('utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
