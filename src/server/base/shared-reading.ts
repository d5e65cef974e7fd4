/**
 * Callers that ask within one turn of the event loop share one reading. It begins after that turn, so after the last of
 * them has asked, and nobody gets an answer that is older than the question. The dashboard needs this: all open tabs ask
 * for the same when something changes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Questions with the same key have the same answer. */
export function shareReading<Question, Value>(
  read: (question: Question) => Promise<Value>,
  keyOf: (question: Question) => unknown = (question) => question,
): (question: Question) => Promise<Value> {
  const waiting = new Map<unknown, Promise<Value>>()
  return (question) => {
    const key = keyOf(question)
    const known = waiting.get(key)
    if (known) return known
    const reading = nextTurn().then(() => {
      waiting.delete(key)
      return read(question)
    })
    waiting.set(key, reading)
    return reading
  }
}
