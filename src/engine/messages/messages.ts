/**
 * Messages for agents that are at work (store/runs/messages.ts has their states). They are stored first; supervision gives
 * them to the process (hold.ts). Those that nobody has read when the run has settled become the next turn of its
 * conversation, once, by the key of the request. A run outside a conversation, or one that a person cancelled, misses them.
 */
import { randomUUID } from 'node:crypto'
import { RepriseError } from '../../contract/errors.ts'
import type { RunId } from '../../contract/ids.ts'
import type { RunMessage } from '../../contract/run-message.ts'
import type { Clock } from '../../core/clock.ts'
import { composeSaid } from '../../core/prompt/said.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { RunMessageRecord, RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { MessageSource } from '../base/message-source.ts'
import type { NextPrompts } from '../base/next-prompts.ts'
import type { Persist } from '../base/persist.ts'
import type { ProgressBus } from '../base/progress.ts'
import type { ConversationEngine } from '../conversations/api.ts'
import { requireRun } from '../runs/require-run.ts'
import type { LiveRuns } from '../supervise/live-runs.ts'
import type { MessageEngine } from './api.ts'
import { MessageHold, type MessageHoldDeps } from './hold.ts'

export type MessageDeps = MessageHoldDeps & {
  store: Pick<
    Store,
    | 'sayToRun'
    | 'listRunMessages'
    | 'listUnread'
    | 'markRead'
    | 'listRunsWithOpenMessages'
    | 'settleMessage'
    | 'getRun'
  >
  live: Pick<LiveRuns, 'get'>
  bus: Pick<ProgressBus, 'publish'>
  clock: Clock
  redactor: Redactor
  persist: Persist
  log: Log
}

/** The messages that were said to the run itself. */
const saidToRun = ({ store, persist, clock }: MessageDeps): MessageSource => ({
  listUnread: ({ id }, sessionId) => store.listUnread(id, sessionId),
  markRead: (attempt, ids) => persist(() => store.markRead(attempt, ids, clock.now())),
})

/** Adds messages to the prompts that a process may receive: those that were said to its run, and those of other sources. */
export function withMessages(
  deps: MessageDeps,
  prompts: NextPrompts,
  others: readonly MessageSource[],
): NextPrompts {
  const sources = [saidToRun(deps), ...others]
  return {
    ...prompts,
    hold: (process) => new MessageHold(deps, sources, process, prompts.hold(process)),
    noteTaken: async (attempt, messageIds) => {
      await prompts.noteTaken(attempt, messageIds)
      if (messageIds.size === 0) return
      for (const source of sources) await source.markRead(attempt, messageIds)
      deps.bus.publish(attempt.runId)
    },
  }
}

export interface Messages extends MessageEngine {
  /** Closes what is left open after the run has settled. Never rejects. */
  noteRun: (id: RunId) => Promise<void>
  /** Does so for runs that settled right before an earlier daemon ended. */
  open: () => Promise<void>
}

export function createMessages(deps: MessageDeps, createTurn: ConversationEngine['createTurn']): Messages {
  const { store, clock, redactor, log } = deps

  const nextTurn = async (run: RunRecord, message: RunMessageRecord): Promise<RunId | null> => {
    const { conversationId } = run.links
    if (conversationId === null || message.state !== 'waiting') return null
    if (run.state.at === 'settled' && run.cancelRequested && run.state.outcome.name === 'cancelled')
      return null
    try {
      const text = message.from === null ? message.text : composeSaid(message)
      // It was said to that agent, with that model and these rights.
      const { agent, model, request } = run
      const asked = { text, agent, ...(model === null ? {} : { model }), permissions: request.permissions }
      const made = await createTurn(conversationId, asked, `message-${message.id}`)
      return made.run.id
    } catch (error) {
      // Anything else may pass: the message stays open, and the next look tries again.
      if (!(error instanceof RepriseError)) throw error
      log.warn({ run: run.id, error: String(error) }, 'a message could not become the next turn')
      return null
    }
  }
  const closeAll = async (id: RunId) => {
    const run = await store.getRun(id)
    if (run?.state.at !== 'settled') return
    for (const message of await store.listRunMessages(id)) {
      if (message.closedAt !== null) continue
      await store.settleMessage(message, { nextRunId: await nextTurn(run, message) }, clock.now())
    }
  }
  const describe = (message: RunMessageRecord): RunMessage => ({
    id: message.id,
    text: redactor.text(message.text),
    from: message.from,
    state: message.state,
    saidAt: message.saidAt.toISOString(),
    readAt: message.readAt?.toISOString() ?? null,
    nextRunId: message.nextRunId,
  })
  const listMessages = async (id: RunId) => (await store.listRunMessages(id)).map(describe)

  const noteRun = (id: RunId) =>
    closeAll(id).catch((error: unknown) =>
      log.warn({ run: id, error: String(error) }, 'could not close the messages of a run'),
    )

  return {
    say: async (id, { text, from }, requestKey) => {
      await requireRun(store, id)
      const message = { id: randomUUID(), runId: id, requestKey, text, from: from ?? null }
      const said = await store.sayToRun(message, clock.now())
      deps.live.get(id)?.nudge()
      await closeAll(id)
      const [now = describe(said)] = (await listMessages(id)).filter((message) => message.id === said.id)
      return now
    },
    listMessages: async (id) => {
      await requireRun(store, id)
      return listMessages(id)
    },
    noteRun,
    open: async () => {
      for (const id of await store.listRunsWithOpenMessages()) await noteRun(id)
    },
  }
}
