/**
 * The context of every run that is not a turn of a conversation: the session that it names, and the history that a new
 * session would be given.
 */
import { createHash } from 'node:crypto'
import { NOTHING_ADDED } from '../../core/prompt/added-texts.ts'
import type { Standing } from '../../core/prompt/compose.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { NextPrompts } from '../base/next-prompts.ts'
import type { RunContext } from '../base/purpose.ts'
import { type PastStore, readPastTurns } from './history.ts'

export interface ContextDeps {
  store: PastStore
  nextPrompts: Pick<NextPrompts, 'current' | 'taskOf'>
}

/** `sameTask`: the runs that worked on the same task; they do not count as earlier turns. */
export async function readSessionContext(
  { store, nextPrompts }: ContextDeps,
  run: RunRecord,
  { sameTask = [run], standing = null }: { sameTask?: readonly RunRecord[]; standing?: string | null } = {},
): Promise<RunContext> {
  const session = run.sessionId === null ? null : await store.getSession(run.sessionId)
  const epoch = session?.epoch ?? 0
  const current = await nextPrompts.current(run)
  const own = new Set(sameTask.map(({ id }) => id))
  const readTurns = (chars?: number) => readPastTurns(store, run.sessionId, { before: run, own }, chars)
  return {
    run: current,
    startEffects: [],
    session,
    sessionEpoch: epoch,
    epoch,
    turns: await readTurns(),
    catchUp: [],
    otherAgent: false,
    continuesWork: run.links.parentRunId !== null,
    sameTask,
    standingHash: hashOf(standing),
    task: await nextPrompts.taskOf(current),
    readWhole: async (chars) => ({ turns: await readTurns(chars), catchUp: [] }),
    readBrief: async () => ({ texts: NOTHING_ADDED }),
  }
}

/** Whether a session has the standing texts, which are given once. */
export function standingOf(
  { told, compacted }: Pick<SessionRecord, 'told' | 'compacted'>,
  hash: string,
): Standing {
  if (compacted) return 'compacted'
  return told === hash ? 'known' : 'changed'
}

/** The attempts at the current question. Attempts from before the question was edited do not count. */
export const currentAttempts = (
  run: Pick<RunRecord, 'outdatedAttempts'>,
  attempts: readonly AttemptRecord[],
) => attempts.filter(({ number }) => number > run.outdatedAttempts)

/** The hash of the standing texts; `null` stands for no texts. */
export const hashOf = (text: string | null) =>
  text === null ? 'none' : createHash('sha256').update(text).digest('hex').slice(0, 16)
