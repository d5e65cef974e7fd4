/** Gathers facts about the session that a run would resume: from the store, the agent's files and its processes. */
import type { AgentRegistry, ConfiguredAgent } from '../../agents/registry.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import type { Holder, Pin } from '../../core/resume/facts.ts'
import { isSamePlace, type Place } from '../../core/resume/place.ts'
import type { KeptProcess } from '../../store/runs/process-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import type { Processes } from '../base/processes.ts'
import { type RestoreDeps, restoreSession } from '../mirror/restore.ts'

export interface OutsideDeps {
  store: Pick<Store, 'listOwnPrompts' | 'listOutsideIds'>
}

export type PinDeps = OutsideDeps &
  RestoreDeps & {
    store: Pick<Store, 'findAnsweredPrompt' | 'findLeaseHolder' | 'findKept'>
    agents: Pick<AgentRegistry, 'get'>
    processes: Pick<Processes, 'attemptOf'>
  }

export interface PinFacts {
  pin: Pin
  /** Its files were missing and were restored from their mirror. */
  restored: boolean
  promptRecorded: boolean
  tornTranscript: string | null
  /** Turns in it that were made outside Reprise and are not imported yet. */
  outside: readonly OutsideTurn[]
  /** The process that waits for a turn in it. */
  kept: KeptProcess | null
}

export async function readPin(
  deps: PinDeps,
  run: RunRecord,
  session: SessionRecord,
  { epoch, place }: { epoch: number; place: Place },
): Promise<PinFacts> {
  // The files of another agent's session are not read, because that agent may not be configured any more.
  if (session.agent !== run.agent) {
    return {
      pin: { ...session, epoch, full: false, transcript: 'missing', holder: null },
      restored: false,
      promptRecorded: false,
      tornTranscript: null,
      outside: [],
      kept: null,
    }
  }
  const { store, agents } = deps
  const { adapter, env } = agents.get(session.agent, run.id)
  const query = {
    // If the directory was renamed, its current name is used, because the agent will look there.
    workDir: isSamePlace(session, place) ? place.workDir : session.workDir,
    messageId: run.promptId,
    answeredId: await store.findAnsweredPrompt(session),
    ownIds: await readOwnIds(store, run, session),
    knownIds: new Set(await store.listOutsideIds(session.id)),
  }
  const inspect = () => adapter.inspectTranscript(session.agentSessionId, env, query)
  let transcript = await inspect()
  const leasedBy = await store.findLeaseHolder(session.id)
  const kept = leasedBy === null ? await store.findKept(session.id) : null
  const findOther = async () =>
    (await adapter.findHolders(session.agentSessionId, env)).find(
      ({ pid }) => kept === null || deps.processes.attemptOf(pid) !== kept.spool,
    )
  let other = leasedBy === null ? await findOther() : undefined
  // A kept process that ends between the two questions has lost its mark, and is not found again.
  if (other && kept) other = await findOther()
  const holder: Holder | null =
    leasedBy !== null
      ? { kind: 'lease', runId: leasedBy }
      : other
        ? { kind: 'process', pid: other.pid }
        : null
  const where = { ...session, workDir: query.workDir }
  // A process that holds the session may be about to write its files itself.
  const restored =
    transcript.state === 'missing' && holder === null && (await restoreSession(deps, { adapter, env }, where))
  if (restored) transcript = await inspect()
  return {
    pin: { ...session, epoch, full: false, transcript: transcript.state, holder },
    restored,
    promptRecorded: transcript.hasMessage,
    tornTranscript: transcript.state === 'torn' ? transcript.path : null,
    outside: transcript.outside,
    kept,
  }
}

/** Turns in the session that were made outside Reprise and are not imported yet. */
export async function findOutside(
  { store }: OutsideDeps,
  { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
  run: RunRecord,
  session: SessionRecord,
): Promise<OutsideTurn[]> {
  const { outside } = await adapter.inspectTranscript(session.agentSessionId, env, {
    workDir: session.workDir,
    ownIds: await readOwnIds(store, run, session),
    knownIds: new Set(await store.listOutsideIds(session.id)),
  })
  return [...outside]
}

const readOwnIds = async (store: OutsideDeps['store'], run: RunRecord, session: SessionRecord) =>
  new Set([run.promptId, ...(await store.listOwnPrompts(session.id))])
