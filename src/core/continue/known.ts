/**
 * Computes what a session knows after an attempt in it has ended.
 *
 * An agent reports that it has accepted a prompt before it writes the prompt to its transcript. If it is killed in
 * between, the session does not contain the prompt, although the agent had accepted it. So for an attempt that did not
 * complete, only the content of its transcript counts. For an attempt that completed, the agent's report counts: if
 * the transcript lacks the answer nevertheless, the resume decision notices (`behind`).
 */
export interface AttemptTrace {
  completed: boolean
  /** The agent reported that it accepted the prompt. */
  accepted: boolean
  modelCalled: boolean
  /** Whether the transcript contains the question of the run, and the message that this attempt sent. */
  recorded: { question: boolean; message: boolean }
}

export interface SessionKnowledge {
  /** The session contains the question. */
  question: boolean
  /** The session contains the messages of others that were sent with the question. */
  past: boolean
  /** The session contains the texts that are sent once per session. */
  standing: boolean
}

export function knownAfter({ completed, accepted, modelCalled, recorded }: AttemptTrace): SessionKnowledge {
  // A command that the agent handles itself (`/help`) may drop the texts before it.
  const whole = accepted && modelCalled
  if (completed) return { question: accepted, past: whole, standing: whole }
  return { question: recorded.question, past: recorded.question, standing: recorded.message }
}
