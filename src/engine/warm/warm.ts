/**
 * Starts an agent ahead of a turn that somebody is about to ask for, so that the turn does not wait for it. The process
 * resumes the session of the conversation and waits for its prompt. Nothing is started if the turn would not resume, if
 * a process waits or works already, or if none may be kept; the turn then starts as usual.
 *
 * The decision is the path's own, on a run that is not stored. Nothing is written to the session before the prompt.
 */
import { randomUUID } from 'node:crypto'
import { factsOf } from '../../agents/registry.ts'
import type { RetryTurn, WarmTurn } from '../../contract/conversation.ts'
import { RepriseError } from '../../contract/errors.ts'
import { AttemptId, type ConversationId } from '../../contract/ids.ts'
import { whyNotReused } from '../../core/kept/can-reuse.ts'
import type { ConversationRecord } from '../../store/conversations/records.ts'
import type { KeptProcess } from '../../store/runs/process-records.ts'
import type { NewRun } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { Persist } from '../base/persist.ts'
import type { Processes } from '../base/processes.ts'
import type { Enforcement } from '../enforce/enforcement.ts'
import { readBinding } from '../kept/binding.ts'
import { readTranscriptBytes } from '../kept/disturbance.ts'
import type { KeptProcesses } from '../kept/kept.ts'
import { imagineTurn } from '../path/imagine-run.ts'
import { type PrepareDeps, type Prepared, prepareAttempt } from '../path/prepare.ts'

export type WarmDeps = PrepareDeps & {
  store: Pick<Store, 'getConversation' | 'startKept' | 'markKept' | 'endKept'>
  enforcement: Pick<Enforcement, 'chooseSandbox'>
  kept: Pick<KeptProcesses, 'plan' | 'add' | 'hasRoom'>
  processes: Pick<Processes, 'folderOf' | 'prepare' | 'launch' | 'isAlive' | 'endStrays'>
  persist: Persist
  log: Log
  settings: { permissions: NewRun['request']['permissions']; dryRun: boolean; killAfterMs: number }
}

export class Warming {
  readonly #deps: WarmDeps
  /** By conversation: a second call while one is under way shares its answer. */
  readonly #underWay = new Map<ConversationId, Promise<WarmTurn>>()

  constructor(deps: WarmDeps) {
    this.#deps = deps
  }

  async warm(id: ConversationId, request: RetryTurn): Promise<WarmTurn> {
    const conversation = await this.#deps.store.getConversation(id)
    if (!conversation) throw new RepriseError('not-found', `there is no conversation ${id}`)
    const known = this.#underWay.get(id)
    if (known) return known
    const answer = warm(this.#deps, conversation, request)
      .then((why): WarmTurn => ({ warm: why === null, ...(why === null ? {} : { why }) }))
      .finally(() => this.#underWay.delete(id))
    this.#underWay.set(id, answer)
    return answer
  }

  /** Resolves when nothing is being started any more. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
  }
}

/** null: a process waits for the turn. Otherwise why not. */
async function warm(
  deps: WarmDeps,
  conversation: ConversationRecord,
  request: RetryTurn,
): Promise<string | null> {
  const { clock, enforcement } = deps
  const now = clock.now()
  const run = imagineTurn(conversation, request, deps.settings, now)
  const prepared = await prepareAttempt(deps, run, null)
  if (prepared === 'busy') return 'the session is in use'
  const { agent, planInput, place, attempt } = prepared
  const { decision, agentSessionId } = planInput
  if (decision.kind !== 'resume' || attempt.kind !== 'turn') return 'the turn would not just resume a session'
  if (prepared.outside || prepared.tornTranscript) return 'the session was changed by somebody else'
  const { sandbox } = await enforcement.chooseSandbox(run, agent)
  const binding = await readBinding({ ...prepared, sandbox, now })
  if (!binding || !agent.adapter.waiting) return 'this turn needs a process of its own'
  const transcriptBytes = await readTranscriptBytes(agent, agentSessionId, place.workDir)
  const { kept: found } = prepared
  if (found) {
    const isAlive = found.keeper !== null && deps.processes.isAlive(found.keeper)
    const wanted = { decision, kind: attempt.kind, binding, transcriptBytes, outsideTurns: 0 }
    return whyNotReused({ ...found, ...found.kept, isAlive }, wanted, now)
  }
  if (!(await agent.adapter.waiting.staysQuiet(agentSessionId, agent.env, place.workDir)))
    return 'the session has a schedule of its own'
  if (!(await deps.kept.hasRoom())) return 'the machine is short of memory'
  const kept = deps.kept.plan({ spoolOffset: 0, transcriptBytes, preStarted: true })
  if (!kept) return 'no process is kept (conversations.keepWarm)'
  const process = await deps.persist(() =>
    deps.store.startKept({
      spool: AttemptId.create(now),
      sessionId: attempt.sessionId,
      conversationId: conversation.id,
      agent: agent.name,
      runtime: factsOf(prepared.runtime),
      binding,
      kept,
      startedAt: now,
    }),
  )
  if (!process) return 'the session is in use'
  deps.kept.add(await launch(deps, prepared, process))
  return null
}

async function launch(
  { store, processes, persist, clock, settings }: WarmDeps,
  { agent, runtime, planInput, place }: Prepared,
  process: KeptProcess,
): Promise<KeptProcess> {
  const dir = processes.folderOf(process.spool)
  const { args, input, seed } = agent.adapter.plan({ ...planInput, prompt: null, promptId: randomUUID() })
  try {
    processes.prepare(dir, input, seed)
    const { workDir } = place
    const command = { program: runtime.path, args, env: agent.env, workDir }
    const keeper = await processes.launch({ attemptId: process.spool, dir, ...command })
    return await persist(() => store.markKept(process, keeper))
  } catch (error) {
    await processes.endStrays(process.spool, null, settings.killAfterMs)
    await persist(() => store.endKept(process, clock.now()))
    throw error
  }
}
