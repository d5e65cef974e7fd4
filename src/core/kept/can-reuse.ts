/**
 * Decides whether a turn may be given to a process that is kept. It may if the model would be sent the same as by a new
 * process that resumes the session: the decision for the turn is to resume exactly the session of the process, nobody
 * else has written to it, and the new process would be started in the same way. The first difference is the answer.
 */
import type { ResumeDecision } from '../resume/decide.ts'
import type { Binding } from './binding.ts'

export interface KeptFacts {
  binding: Binding
  untilMs: number
  isAlive: boolean
  /** The size of the transcript when the process had ended its last turn; null: not known. */
  transcriptBytes: number | null
  /** Set once it is being ended. */
  leaving?: string
}

export interface WantedProcess {
  decision: ResumeDecision
  /** `compact`: the attempt only compacts the session. */
  kind: 'turn' | 'compact'
  /** null: this run is never given to a kept process. */
  binding: Binding | null
  transcriptBytes: number | null
  /** Turns that were made in the session outside Reprise. */
  outsideTurns: number
}

/** null: it may be reused. Otherwise why not, in words that follow "the process was not reused: ". */
export function whyNotReused(kept: KeptFacts, wanted: WantedProcess, now: Date): string | null {
  const { decision, binding } = wanted
  if (!kept.isAlive) return 'it has ended'
  if (kept.leaving !== undefined) return 'it is being ended'
  if (now.getTime() >= kept.untilMs) return 'it was kept long enough'
  if (decision.kind !== 'resume') return 'the turn starts a new session'
  if (decision.agentSessionId !== kept.binding.agentSessionId) return 'the turn resumes another session'
  if (wanted.kind !== 'turn') return 'the session is compacted first'
  if (wanted.outsideTurns > 0 || wanted.transcriptBytes !== kept.transcriptBytes)
    return 'somebody else has written to the session'
  if (binding === null) return 'this run needs a process of its own'
  const differs = DIFFERENCES.find(([key]) => binding[key] !== kept.binding[key])
  return differs ? differs[1] : null
}

export const canReuse = (kept: KeptFacts, wanted: WantedProcess, now: Date): boolean =>
  whyNotReused(kept, wanted, now) === null

/** The order in which reasons are reported. Reasons that a person can act on come first; `args` covers every other option of the agent. */
const DIFFERENCES = [
  ['agent', 'another agent takes the turn'],
  ['agentSessionId', 'the turn resumes another session'],
  ['model', 'the model has changed'],
  ['permissions', 'the permissions have changed'],
  ['sandbox', 'the sandbox has changed'],
  ['workDir', 'the directory has changed'],
  ['workDirId', 'the directory was replaced'],
  ['runtimeId', 'the agent’s program has changed'],
  ['version', 'the agent was upgraded'],
  ['env', 'the agent’s environment has changed'],
  ['args', 'the agent’s options have changed'],
  ['files', 'the agent’s settings or instructions have changed'],
  ['day', 'a new day has begun'],
] as const satisfies readonly (readonly [keyof Binding, string])[]
