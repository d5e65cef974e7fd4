/**
 * Forks a conversation: a new one with the messages up to a turn. Each agent gets a fork of its session, if that can be cut
 * after the last turn that it took part in. Otherwise it has no session in the new conversation, and its next turn starts
 * one with the history, as the resume decision says.
 */
import { RepriseError } from '../../contract/errors.ts'
import { ConversationId } from '../../contract/ids.ts'
import type { ForkConversation } from '../../contract/session-transfer.ts'
import type { CopiedPin } from '../../store/conversations/copies.ts'
import type { ConversationRecord, MessageRecord, PinRecord } from '../../store/conversations/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { type CopyDeps, copySession, type MadeCopy } from '../transfer/copy.ts'
import { findEndOfRun } from '../transfer/fork.ts'
import { storePlaced } from '../transfer/store-placed.ts'

export type ForkConversationDeps = CopyDeps & {
  store: Pick<Store, 'listMessages' | 'listPins' | 'getSession' | 'getRun' | 'listAttempts' | 'addCopies'>
  log: Log
}

export async function forkConversation(
  deps: ForkConversationDeps,
  conversation: ConversationRecord,
  { at, title }: ForkConversation,
): Promise<ConversationId> {
  const { store, clock } = deps
  const all = await store.listMessages(conversation.id)
  const last = at === undefined ? all.at(-1) : all.find(({ id }) => id === at)
  if (at !== undefined && !last) {
    throw new RepriseError('not-found', `there is no message ${at} in conversation ${conversation.id}`, {
      hint: `\`reprise chat ${conversation.id}\` shows them.`,
    })
  }
  const messages = all.filter(({ turn }) => turn <= (last?.turn ?? 0))
  await checkSettled(deps, messages)
  const forks = await forkPins(deps, conversation, messages)
  const now = clock.now()
  const id = ConversationId.create(now)
  await storePlaced(
    deps,
    forks.map(({ copy }) => copy),
    () =>
      store.addCopies(
        forks.map(({ copy }) => copy),
        {
          conversation: {
            id,
            title: title ?? conversation.title,
            agent: conversation.agent,
            workDir: conversation.workDir,
            instructions: conversation.instructions,
            historyScope: conversation.historyScope,
            createdAt: now,
          },
          messages,
          pins: forks.map(({ pin }) => pin),
        },
      ),
  )
  return id
}

/** The answer to the last turn must be there, or it must be known that there is none. */
async function checkSettled(
  { store }: ForkConversationDeps,
  messages: readonly MessageRecord[],
): Promise<void> {
  const question = messages.findLast(({ role }) => role === 'user')
  const run = question?.runId ? await store.getRun(question.runId) : null
  if (run === null || run.state.at === 'settled') return
  throw new RepriseError('conflict', `turn ${question?.turn} has not been answered yet (run ${run.id})`, {
    hint: 'Wait for the answer, or fork at an earlier message.',
  })
}

async function forkPins(
  deps: ForkConversationDeps,
  conversation: ConversationRecord,
  messages: readonly MessageRecord[],
): Promise<{ copy: MadeCopy; pin: CopiedPin }[]> {
  const forks: { copy: MadeCopy; pin: CopiedPin }[] = []
  for (const pin of await deps.store.listPins(conversation.id)) {
    const fork = await forkPin(deps, pin, messages).catch((error: unknown) => {
      deps.log.info(
        { conversation: conversation.id, agent: pin.agent, error: String(error) },
        'a fork starts a new session, because its session could not be copied',
      )
      return null
    })
    if (fork) forks.push(fork)
  }
  return forks
}

/** null: the agent's session does not hold this history. */
async function forkPin(
  deps: ForkConversationDeps,
  { agent, epoch, sessionEpoch, sessionId, sinceTurn }: PinRecord,
  messages: readonly MessageRecord[],
): Promise<{ copy: MadeCopy; pin: CopiedPin } | null> {
  const { store } = deps
  const session = sessionId && epoch === sessionEpoch ? await store.getSession(sessionId) : null
  const asked = messages.findLast((message) => message.role === 'user' && message.agent === agent)
  if (!session || session.poison || !asked?.runId || sinceTurn === null || asked.turn < sinceTurn) return null
  const cut = await findEndOfRun(store, session, asked.runId)
  if (cut === null) return null
  const copy = await copySession(deps, session, cut, 'fork')
  return { copy, pin: { agent, sessionId: copy.session.id, sinceTurn, seenTurn: asked.turn } }
}
