/**
 * Decides what to do with the events that were sent to a watch in one payload:
 *
 *   known    each event was handled already, or is being handled: nothing to do
 *   start    no cycle is open: a cycle starts with the new events
 *   queue    a cycle is open: another one is queued behind it, with the new events
 *   merge    a cycle is queued already: the new events are added to it
 *   limited  a limit is reached: no event is accepted, and the sender may retry later
 *
 * An event is known while a cycle with it is open or queued, and for `dedupeMs` after it was accepted, unless it was
 * resolved since. So an event that is sent repeatedly leads to one cycle. The caller must record the resolved events of
 * the payload before this decision; they count also if the other events are limited.
 */
import type { WatchEvent } from '../../contract/cycle.ts'

/** The last time that an event with a fingerprint was accepted. */
export interface KnownEvent {
  at: Date
  resolvedAt: Date | null
  /** The cycle of the event is open or queued. */
  cycleOpen: boolean
}

export interface EventLimits {
  /** How many cycles events may start or queue within an hour. Merged events do not count. */
  eventsPerHour: number
  dedupeMs: number
  /** The limit of a queued cycle. A payload is never split, so a single payload may have more events. */
  maxEventsPerCycle: number
}

export interface EventFacts {
  firing: readonly WatchEvent[]
  known: ReadonlyMap<string, KnownEvent>
  openCycle: boolean
  queuedCycle: { eventCount: number } | null
  /** When events started or queued a cycle, at least within the last hour. */
  recentStarts: readonly Date[]
  limits: EventLimits
  now: Date
}

export type EventDecision =
  | { kind: 'known' }
  | { kind: 'start' | 'queue' | 'merge'; events: WatchEvent[] }
  | { kind: 'limited'; retryAfterMs: number }

const HOUR_MS = 3_600_000
/** A full queue is emptied when the open cycle ends, at an unknown time. */
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
  // If the clock was set back, the event is not considered new.
  const ageMs = Math.max(0, now.getTime() - at.getTime())
  return !resolved && ageMs < dedupeMs
}

/** How long until another cycle is allowed; 0: it is allowed now. */
function waitMs({ recentStarts, limits, now }: EventFacts): number {
  const ages = recentStarts
    .map((at) => Math.max(0, now.getTime() - at.getTime()))
    .filter((ageMs) => ageMs < HOUR_MS)
    .sort((a, b) => a - b)
  const last = ages[limits.eventsPerHour - 1]
  return last === undefined ? 0 : HOUR_MS - last
}
