/**
 * Whether messages are recorded in the transcript of an attempt's session. Used after the agent's process has ended.
 */
import type { AgentRegistry } from '../../agents/registry.ts'
import { type AttemptTrace, knownAfter, type SessionKnowledge } from '../../core/continue/known.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

export interface RecordedDeps {
  store: Pick<Store, 'getSession'>
  agents: Pick<AgentRegistry, 'find'>
}

/** `reported` is the session id that the agent reported, if it differs from the one we know. */
export async function isRecorded(
  { store, agents }: RecordedDeps,
  run: Pick<RunRecord, 'id' | 'agent'>,
  attempt: Pick<AttemptRecord, 'sessionId' | 'agentSessionId'>,
  messageId: string,
  reported: string | null = null,
): Promise<boolean> {
  const session = await store.getSession(attempt.sessionId)
  // The location of the files is unknown for an agent that is not configured any more.
  const agent = agents.find(run.agent, run.id)
  if (!session || !agent) return false
  const { hasMessage } = await agent.adapter.inspectTranscript(
    reported ?? attempt.agentSessionId,
    agent.env,
    { workDir: session.workDir, messageId },
  )
  return hasMessage
}

/** The messages of these that the agent has not written into its session. */
export async function findUnrecorded(
  deps: RecordedDeps,
  run: RunRecord,
  attempt: AttemptRecord,
  messageIds: ReadonlySet<string>,
  reported: string | null,
): Promise<string[]> {
  const missing: string[] = []
  for (const id of messageIds) if (!(await isRecorded(deps, run, attempt, id, reported))) missing.push(id)
  return missing
}

export async function readKnown(
  deps: RecordedDeps,
  run: RunRecord,
  attempt: AttemptRecord,
  { reported, ...trace }: Omit<AttemptTrace, 'recorded'> & { reported: string | null },
): Promise<SessionKnowledge> {
  const inTranscript = (id: string) => isRecorded(deps, run, attempt, id, reported)
  const asks = attempt.kind === 'turn' && !trace.completed
  const message = asks && (await inTranscript(attempt.promptId))
  // An attempt that resumes after its question was recorded sends another message, not the question.
  const question = asks && (attempt.promptId === run.promptId ? message : await inTranscript(run.promptId))
  return knownAfter({ ...trace, recorded: { question, message } })
}
