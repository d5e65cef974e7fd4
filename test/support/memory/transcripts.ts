/** The transcripts of sessions, in memory: what they hold, and in which state a look at them finds them. */
import type { SessionHolder, TranscriptFacts, TranscriptQuery } from '../../../src/agents/session-files.ts'
import type { TranscriptState } from '../../../src/contract/session.ts'
import type { OutsideTurn } from '../../../src/core/history/outside.ts'

interface Transcript {
  messages: Set<string>
  /** Set where a test has damaged it. */
  state: TranscriptState | null
  outside: OutsideTurn[]
  holders: SessionHolder[]
}

export class MemoryTranscripts {
  /** A fingerprint of the files that an agent reads when it starts. */
  startFiles = ''
  /** Whether sessions have no schedule of their own. */
  quiet = true
  readonly #bySession = new Map<string, Transcript>()

  #of(agentSessionId: string): Transcript {
    const known = this.#bySession.get(agentSessionId)
    if (known) return known
    const transcript: Transcript = { messages: new Set(), state: null, outside: [], holders: [] }
    this.#bySession.set(agentSessionId, transcript)
    return transcript
  }

  /** The agent writes a message of ours into its transcript. */
  record(agentSessionId: string, messageId: string): void {
    this.#of(agentSessionId).messages.add(messageId)
  }

  damage(agentSessionId: string, state: TranscriptState): void {
    this.#of(agentSessionId).state = state
  }

  remove(agentSessionId: string): void {
    this.#bySession.delete(agentSessionId)
  }

  /** Somebody says something in the session without Reprise. */
  addOutside(agentSessionId: string, turn: OutsideTurn): void {
    this.#of(agentSessionId).outside.push(turn)
  }

  /** A process that is not of Reprise opens the session. */
  hold(agentSessionId: string, pid: number): void {
    this.#of(agentSessionId).holders.push({ pid, startTicks: 1 })
  }

  release(agentSessionId: string): void {
    this.#of(agentSessionId).holders = []
  }

  holders(agentSessionId: string): SessionHolder[] {
    return this.#bySession.get(agentSessionId)?.holders ?? []
  }

  inspect(agentSessionId: string, { messageId, ownIds, knownIds }: TranscriptQuery): TranscriptFacts {
    const known = this.#bySession.get(agentSessionId)
    if (!known || known.messages.size + known.outside.length === 0)
      return { state: 'missing', path: null, bytes: null, hasMessage: false, outside: [] }
    return {
      state: known.state ?? 'present',
      path: `/transcripts/${agentSessionId}`,
      bytes: known.messages.size,
      hasMessage: typeof messageId === 'string' && known.messages.has(messageId),
      outside: ownIds ? known.outside.filter((turn) => !knownIds?.has(turn.id)) : [],
    }
  }

  /** Cuts off a torn end. */
  mend(path: string, keepAs: string): { keptAs: string; removedBytes: number } | null {
    const known = this.#bySession.get(path.replace('/transcripts/', ''))
    if (known?.state !== 'torn') return null
    known.state = null
    return { keptAs: keepAs, removedBytes: 12 }
  }
}
