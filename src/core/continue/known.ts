/**
 * What a session knows after an attempt in it has ended.
 *
 * An agent reports that it has accepted a prompt before it writes the prompt to its transcript. One that is killed in
 * between leaves a session that was never told, whatever the agent had reported. Of an attempt that did not complete,
 * only what its transcript holds counts as told. An attempt that completed is believed: if its transcript lacks the
 * answer nevertheless, the resume decision finds that out (`behind`).
 */
export interface AttemptTrace {
  completed: boolean
  /** The agent reported that it took the prompt. */
  accepted: boolean
  modelCalled: boolean
  /** Whether the transcript holds the question of the run, and the message that this attempt was given. */
  recorded: { question: boolean; message: boolean }
}

export interface SessionKnowledge {
  /** The session holds the question. */
  question: boolean
  /** It also holds what was added to the question: what others had said. */
  past: boolean
  /** It was told the texts that are said once. */
  standing: boolean
}

export function knownAfter({ completed, accepted, modelCalled, recorded }: AttemptTrace): SessionKnowledge {
  // A command that the agent runs by itself (`/help`) may drop what stood before it.
  const whole = accepted && modelCalled
  if (completed) return { question: accepted, past: whole, standing: whole }
  return { question: recorded.question, past: recorded.question, standing: recorded.message }
}
