/**
 * Copies a session up to a point, under an id of its own. The original is only read. The copy is complete on the disk
 * before it is stored (store-placed.ts); what an interruption leaves is removed at the next start.
 *
 * Only the end of a session that is in use may be incomplete: an agent appends to its transcript and changes nothing before.
 */
import { randomUUID } from 'node:crypto'
import type { CutPoint, TranscriptPart } from '../../agents/session-copies.ts'
import { RepriseError } from '../../contract/errors.ts'
import { SessionId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { CopiedSession, SessionOrigin } from '../../store/conversations/copies.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import { readRecentTurns } from './past.ts'
import { type PlaceDeps, placeFiles } from './place.ts'
import { findSource, findWriter, type SourceDeps } from './source.ts'
import type { PlacedSession, StorePlacedDeps } from './store-placed.ts'

export type CopyDeps = SourceDeps & PlaceDeps & StorePlacedDeps & { clock: Clock }

/** Where a session is cut, and the one-time texts that it had been given by then (null: not known). */
export interface Cut extends CutPoint {
  told: string | null
}

/** To be stored by `storePlaced`. */
export type MadeCopy = CopiedSession & PlacedSession & { part: TranscriptPart }

/** Throws `session-unusable` if the session cannot be cut there. */
export async function copySession(
  deps: CopyDeps,
  session: SessionRecord,
  at: Cut | null,
  kind: SessionOrigin['kind'],
): Promise<MadeCopy> {
  const { adapter, env, files } = await findSource(deps, session)
  const { copies } = adapter
  if (copies === null) {
    throw new RepriseError('session-unusable', `sessions of ${session.agent} cannot be copied`)
  }
  const writer = at === null ? await findWriter(deps, session) : null
  if (writer !== null) {
    throw new RepriseError('conflict', `session ${session.id} is being used by ${writer}`, {
      hint: 'Wait until that has ended, or fork at an earlier run: --at run_…',
    })
  }
  const part = await copies.readPart(files.transcript, at)
  if (part === null) throw cannotCut(session, at)
  const now = deps.clock.now()
  const agentSessionId = randomUUID()
  const to = adapter.placeSession(agentSessionId, env, session.workDir)
  if (to === null) throw new Error(`${session.agent} cannot have a session named ${agentSessionId}`)
  const placed = await placeFiles(deps, {
    agentSessionId,
    from: files,
    bytes: part.bytes,
    to,
    rename: {
      isChanged: copies.hasRecords,
      change: copies.rename(part.agentSessionId ?? session.agentSessionId, agentSessionId),
    },
  })
  const past = { agentSessionId, workDir: session.workDir }
  const turns = await readRecentTurns({ adapter, env }, past, to.transcript).catch(async (error: unknown) => {
    await placed.undo()
    throw error
  })
  const isWhole = at === null
  return {
    session: {
      ...session,
      id: SessionId.create(now),
      agentSessionId,
      epoch: 0,
      continues: null,
      poison: null,
      cacheState: null,
      told: isWhole ? session.told : at.told,
      turns: part.questions.length,
      resumes: 0,
      contextTokens: isWhole ? session.contextTokens : part.contextTokens,
      costUsd: 0,
      createdAt: now,
      lastUsedAt: now,
    },
    origin: {
      kind,
      sessionId: session.id,
      agentSessionId: session.agentSessionId,
      messageId: at?.messageId ?? null,
      costUsd: part.costUsd,
      createdAt: now,
    },
    questions: part.questions,
    turns,
    part,
    placed,
  }
}

function cannotCut({ id }: SessionRecord, at: Cut | null): RepriseError {
  return at === null
    ? new RepriseError('session-unusable', `the transcript of session ${id} has no message`)
    : new RepriseError('session-unusable', `session ${id} cannot be cut after message ${at.messageId}`, {
        hint: 'The message is not in its transcript, or on a branch that the agent does not continue. `reprise sessions show ID` lists the runs of a session.',
      })
}
