/** Implements the public interface of conversations: stores changes and admits runs for turns. */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { RetryTurn } from '../../contract/conversation.ts'
import type { PermissionMode } from '../../contract/create-run.ts'
import { RepriseError } from '../../contract/errors.ts'
import { ConversationId, MessageId, type RunId } from '../../contract/ids.ts'
import type { Run } from '../../contract/run.ts'
import type { Clock } from '../../core/clock.ts'
import { renderBlocks } from '../../core/history/render.ts'
import type { ConversationRecord } from '../../store/conversations/records.ts'
import type { NewRun, RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { checkWorkDir } from '../base/work-dir.ts'
import { buildRun } from '../path/build-run.ts'
import { turnLimitsOf } from '../path/turn-limits.ts'
import type { ConversationEngine } from './api.ts'
import { describeConversation, describeConversationDetail, describeMessage } from './describe.ts'
import { type ForkConversationDeps, forkConversation } from './fork.ts'
import { checkConversationDir, planMove } from './move.ts'

export type ConversationDeps = ForkConversationDeps & {
  store: Pick<
    Store,
    | 'getConversation'
    | 'listConversations'
    | 'createConversation'
    | 'updateConversation'
    | 'deleteConversation'
    | 'listPins'
    | 'listMessages'
    | 'getSession'
    | 'admitTurn'
    | 'editMessage'
    | 'truncate'
    | 'retryFrom'
  >
  agents: Pick<AgentRegistry, 'defaultName' | 'runtime'>
  clock: Clock
  settings: { permissions: PermissionMode; dryRun: boolean }
}

export interface ConversationHooks {
  describe: (run: RunRecord) => Promise<Run>
  wake: () => void
  /** Called after a conversation was deleted. */
  onDeleted: () => Promise<void>
  /** Stops the process of a cancelled run, if there is one. */
  stop: (id: RunId) => Promise<void>
  /** Stops the attempts of a run whose question was edited. */
  endOutdated: (id: RunId) => Promise<void>
}

export function createConversations(
  deps: ConversationDeps,
  { describe, wake, onDeleted, stop, endOutdated }: ConversationHooks,
): Omit<ConversationEngine, 'warmConversation'> {
  const { store, agents, clock, settings } = deps

  const require = async (id: ConversationId): Promise<ConversationRecord> => {
    const conversation = await store.getConversation(id)
    if (conversation) return conversation
    throw new RepriseError('not-found', `there is no conversation ${id}`, {
      hint: '`reprise conversations` lists them.',
    })
  }
  const detail = async (conversation: ConversationRecord) =>
    describeConversationDetail(
      conversation,
      await store.listPins(conversation.id),
      await store.listMessages(conversation.id),
    )
  const stopAll = async (ids: readonly RunId[]) => {
    for (const id of ids) await stop(id)
  }
  const newRun = (
    conversation: ConversationRecord,
    agent: string,
    prompt: string,
    request: RetryTurn,
    idempotencyKey: string | null,
    before: RunRecord | null = null,
  ): NewRun => {
    return buildRun({
      idempotencyKey,
      agent,
      // A model name is valid for one agent only.
      model: request.model ?? (before?.agent === agent ? before.model : null),
      workDir: conversation.workDir,
      prompt,
      request: {
        permissions: request.permissions ?? before?.request.permissions ?? settings.permissions,
        forceFreshSession: request.forceFreshSession ?? false,
        maxDurationMs: request.maxDurationMs ?? before?.request.maxDurationMs ?? null,
        ...(request.maxTurns === undefined && before ? turnsOf(before) : turnLimitsOf(request)),
        ...(settings.dryRun ? { dryRun: true } : {}),
        sandbox: request.sandbox ?? before?.request.sandbox,
      },
      sessionId: null,
      createdAt: clock.now(),
    })
  }

  return {
    createConversation: async (request) => {
      const agent = request.agent ?? agents.defaultName
      await agents.runtime(agent)
      await checkWorkDir(request.workDir)
      const now = clock.now()
      const conversation = await store.createConversation({
        id: ConversationId.create(now),
        title: request.title ?? '',
        agent,
        workDir: request.workDir,
        instructions: request.instructions || null,
        historyScope: request.historyScope ?? 'shared',
        createdAt: now,
      })
      return describeConversation(conversation)
    },
    listConversations: async (query) => {
      const { items, nextCursor } = await store.listConversations(query)
      return { items: items.map(describeConversation), nextCursor }
    },
    getConversation: async (id) => detail(await require(id)),
    updateConversation: async (id, change) => {
      const { workDir } = change
      const move = workDir === undefined ? undefined : await planMove(deps, await require(id), workDir)
      await store.updateConversation(id, change, clock.now())
      return { ...(await detail(await require(id))), ...(move ? { move } : {}) }
    },
    planMove: async (id, workDir) => planMove(deps, await require(id), workDir),
    deleteConversation: async (id) => {
      await stopAll(await store.deleteConversation(id, clock.now()))
      await onDeleted()
    },

    createTurn: async (id, { text, agent: asked, ...request }, idempotencyKey) => {
      const conversation = await require(id)
      const agent = asked ?? conversation.agent
      await agents.runtime(agent)
      await checkConversationDir(conversation)
      const run = newRun(conversation, agent, text, request, idempotencyKey)
      const messageId = MessageId.create(run.createdAt)
      const admitted = await store.admitTurn({ messageId, conversationId: id, run })
      wake()
      return { run: await describe(admitted.run), created: admitted.created }
    },
    forkConversation: async (id, request) =>
      detail(await require(await forkConversation(deps, await require(id), request))),
    editMessage: async (id, message, text) => {
      const edited = await store.editMessage(id, message, text, clock.now())
      if (edited.outdated) await endOutdated(edited.outdated)
      return describeMessage(edited.message)
    },
    truncate: async (id, message) => {
      const { removed, orphaned } = await store.truncate(id, message, clock.now())
      await stopAll(orphaned)
      return { removed }
    },
    retryFrom: async (id, message, { agent: asked, ...request }, idempotencyKey) => {
      const conversation = await require(id)
      if (asked !== undefined) await agents.runtime(asked)
      await checkConversationDir(conversation)
      const { run, created, orphaned } = await store.retryFrom(id, message, (question, before) => {
        const text = renderBlocks(question.blocks)
        return newRun(conversation, asked ?? question.agent, text, request, idempotencyKey, before)
      })
      await stopAll(orphaned)
      wake()
      return { run: await describe(run), created }
    },
  }
}

/** A retried turn keeps its limits. */
const turnsOf = ({ request: { maxTurns, turnsInAll } }: RunRecord) => ({ maxTurns, turnsInAll })
