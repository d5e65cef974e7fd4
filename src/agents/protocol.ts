/**
 * How an agent's output is read, and what it is sent. An adapter whose lines are self-contained is stateless; one with
 * a handshake or numbered requests keeps its state in a `Protocol`.
 */
import type { EventBody } from '../contract/events.ts'

/** One message to a running agent. The id makes delivery idempotent. */
export interface Message {
  id: string
  line: string
}

/** A JSON object. */
export type ProtocolSeed = Readonly<Record<string, unknown>>

/** The meaning of one line of output: events to store, and messages to send to the agent in response. */
export interface LineReading {
  events: EventBody[]
  messages?: readonly Message[]
}

/**
 * The state of a protocol within one process, for example of a JSON-RPC handshake: which requests are open, which
 * session was opened. It is in the daemon's memory and lost with it, so it must follow from the seed and the lines
 * alone: after a restart, and when reading moves to another thread, a new protocol is given the same seed and all lines
 * from the start of the process, in order. What it returns for lines that were handled before is dropped.
 *
 * A message's id makes its delivery idempotent: derive it from the protocol (the request's id), never from random
 * numbers or the time. A message is delivered before the line that caused it counts as handled, so none is lost and
 * none is sent twice.
 */
export interface Protocol {
  /** May throw: then the line becomes a gap, now and when it is read again. */
  read: (line: string) => LineReading
}

/**
 * How output is read. Stateless: each line is self-contained, so reading can continue anywhere. Otherwise a protocol is
 * created per process. Prefer stateless if the agent allows it, because nothing has to be read again.
 */
export type OutputReader =
  | { stateful: false; parseLine: (line: string) => EventBody[] }
  | { stateful: true; createProtocol: (seed: ProtocolSeed) => Protocol }
