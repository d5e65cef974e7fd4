/** The texts that the purpose of a run adds to its prompt. Each text is sent as it is, without another wrapper. */
export interface AddedTexts {
  /** Sent with every prompt. */
  brief: readonly string[]
  /** Sent once per session, and again after a compaction. */
  standing: readonly string[]
  /** Sent instead of `standing` if that has become empty. */
  withdrawn: readonly string[]
  /** A summary of the earlier work for a new session. It replaces the transcript. */
  handoff: string | null
  /** The session that would be resumed knows the task, so the prompt is not sent to it again. */
  takesOver: boolean
  /** Sent to a resumed session right before the prompt. */
  closing: string | null
}

export const NOTHING_ADDED: AddedTexts = {
  brief: [],
  standing: [],
  withdrawn: [],
  handoff: null,
  takesOver: false,
  closing: null,
}
