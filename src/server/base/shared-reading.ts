/**
 * Callers that ask within one turn of the event loop share one reading. It begins after that turn, so after the last of
 * them has asked, and nobody gets an answer that is older than the question. The dashboard needs this: all open tabs ask
 * for the same when something changes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

export function shareReading<Key, Value>(read: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const waiting = new Map<Key, Promise<Value>>()
  return (key) => {
    const known = waiting.get(key)
    if (known) return known
    const reading = nextTurn().then(() => {
      waiting.delete(key)
      return read(key)
    })
    waiting.set(key, reading)
    return reading
  }
}
