/**
 * What becomes of events that were sent to a watch, all those of one payload together:
 *
 *   known    each was handled already, or is being handled: nothing is to be done
 *   start    no cycle is open: one begins with those that are new
 *   queue    a cycle is open: one is queued behind it, with those that are new
 *   merge    one is queued already: it takes those that are new, too
 *   limited  not now: none of them is taken, and the sender may come back later
 *
 * An event is known while a cycle that has it is open or queued, and for `dedupeMs` after it was taken, unless it was
 * resolved meanwhile. However often the same event is sent, and whenever, it makes one cycle. So before these are
 * decided about, what the same payload says is resolved is to be noted; it counts also if the rest is limited.
 */
import type { WatchEvent } from '../../contract/watch.ts'

/** What is remembered of a fingerprint: of the last time it was taken. */
export interface KnownEvent {
  at: Date
  resolvedAt: Date | null
  /** Its cycle is open or queued. */
  cycleOpen: boolean
}

export interface EventLimits {
  /** How many cycles events may start or queue, in any hour. To be merged costs nothing. */
  eventsPerHour: number
  dedupeMs: number
  /** A queued cycle takes no more. What comes in one payload is never split, so alone that may be more. */
  maxEventsPerCycle: number
}

export interface EventFacts {
  firing: readonly WatchEvent[]
  known: ReadonlyMap<string, KnownEvent>
  openCycle: boolean
  queuedCycle: { eventCount: number } | null
  /** When events started or queued a cycle; those of the last hour at least. */
  recentStarts: readonly Date[]
  limits: EventLimits
  now: Date
}

export type EventDecision =
  | { kind: 'known' }
  | { kind: 'start' | 'queue' | 'merge'; events: WatchEvent[] }
  | { kind: 'limited'; retryAfterMs: number }

const HOUR_MS = 3_600_000
/** A full queue empties when the open cycle ends, which nobody knows in advance. */
const FULL_RETRY_MS = 60_000

export function admitEvents(facts: EventFacts): EventDecision {
  const { openCycle, queuedCycle, limits } = facts
  const events = newOnes(facts)
  if (events.length === 0) return { kind: 'known' }
  if (queuedCycle) {
    return queuedCycle.eventCount + events.length <= limits.maxEventsPerCycle
      ? { kind: 'merge', events }
      : { kind: 'limited', retryAfterMs: FULL_RETRY_MS }
  }
  const retryAfterMs = waitMs(facts)
  if (retryAfterMs > 0) return { kind: 'limited', retryAfterMs }
  return { kind: openCycle ? 'queue' : 'start', events }
}

function newOnes({ firing, known, limits, now }: EventFacts): WatchEvent[] {
  const byFingerprint = new Map<string, WatchEvent>()
  for (const event of firing) {
    const before = known.get(event.fingerprint)
    if (!before || !isKnown(before, limits.dedupeMs, now)) byFingerprint.set(event.fingerprint, event)
  }
  return [...byFingerprint.values()]
}

function isKnown({ at, resolvedAt, cycleOpen }: KnownEvent, dedupeMs: number, now: Date): boolean {
  if (cycleOpen) return true
  const resolved = resolvedAt !== null && resolvedAt >= at
  // A clock that was set back makes nothing new.
  const ageMs = Math.max(0, now.getTime() - at.getTime())
  return !resolved && ageMs < dedupeMs
}

/** Until one more fits into the hour; 0: it does now. */
function waitMs({ recentStarts, limits, now }: EventFacts): number {
  const ages = recentStarts
    .map((at) => Math.max(0, now.getTime() - at.getTime()))
    .filter((ageMs) => ageMs < HOUR_MS)
    .sort((a, b) => a - b)
  const last = ages[limits.eventsPerHour - 1]
  return last === undefined ? 0 : HOUR_MS - last
}
