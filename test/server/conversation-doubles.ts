/** The part of the engine double that is about conversations. */
import type { ConversationDetail, ConversationMove, Message } from '../../src/contract/conversation.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import { ConversationId, MessageId, SessionId } from '../../src/contract/ids.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import type { Engine } from '../../src/engine/api.ts'

type ConversationMethod =
  | 'createConversation'
  | 'listConversations'
  | 'getConversation'
  | 'updateConversation'
  | 'planMove'
  | 'deleteConversation'
  | 'createTurn'
  | 'editMessage'
  | 'truncate'
  | 'retryFrom'

export interface ConversationDoubles extends Pick<Engine, ConversationMethod> {
  addConversation: (change?: Partial<ConversationDetail>) => ConversationDetail
}

type Admit = (change: Partial<RunDetail>, key: string | null) => { run: RunDetail; created: boolean }

export function createConversationDoubles(admit: Admit): ConversationDoubles {
  const conversations = new Map<ConversationId, ConversationDetail>()

  const get = (id: ConversationId): ConversationDetail => {
    const conversation = conversations.get(id)
    if (!conversation) throw new RepriseError('not-found', `there is no conversation ${id}`)
    return conversation
  }
  const place = (id: ConversationId, mid: MessageId): number => {
    const index = get(id).messages.findIndex((message) => message.id === mid)
    if (index === -1) throw new RepriseError('not-found', `conversation ${id} has no message ${mid}`)
    return index
  }
  const addConversation: ConversationDoubles['addConversation'] = (change = {}) => {
    const conversation = { ...newConversation(), ...change }
    conversations.set(conversation.id, conversation)
    return conversation
  }

  return {
    addConversation,
    createConversation: async ({ agent = 'claude', workDir, title = '', instructions, historyScope }) => {
      if (agent === 'nobody') throw new RepriseError('agent-unknown', 'there is no agent nobody')
      return addConversation({
        agent,
        workDir,
        title,
        instructions: instructions ?? null,
        historyScope: historyScope ?? 'shared',
      })
    },
    listConversations: async ({ limit }) => {
      const items = [...conversations.values()].reverse()
      return { items: items.slice(0, limit), nextCursor: items.length > limit ? 'more' : null }
    },
    getConversation: async (id) => get(id),
    updateConversation: async (id, { title, instructions, workDir }) => {
      const before = get(id)
      const move = workDir === undefined ? {} : { move: planMove(before, workDir) }
      const after = addConversation({
        ...before,
        workDir: workDir ?? before.workDir,
        title: title ?? before.title,
        instructions: instructions === undefined ? before.instructions : instructions,
      })
      return { ...after, ...move }
    },
    planMove: async (id, workDir) => planMove(get(id), workDir),
    deleteConversation: async (id) => {
      conversations.delete(get(id).id)
    },
    createTurn: async (id, { text, model }, key) => {
      const conversation = get(id)
      const turn = conversation.turnCount + 1
      const change = { prompt: text, conversationId: id, turn, model: model ?? null }
      const { run, created } = admit(change, key)
      if (created) {
        conversation.turnCount = turn
        conversation.messages.push({ ...newMessage(conversation.id, turn, text), runId: run.id })
      }
      return { run, created }
    },
    editMessage: async (id, mid, text) => {
      const index = place(id, mid)
      const { messages } = get(id)
      const edited = { ...newMessage(id, 1, text), ...messages[index], editedAt: new Date().toISOString() }
      messages[index] = { ...edited, blocks: [{ type: 'text', text }] }
      return messages[index]
    },
    truncate: async (id, mid) => ({ removed: get(id).messages.splice(place(id, mid)).length }),
    retryFrom: async (id, mid, { model }, key) => {
      const { turn } = get(id).messages[place(id, mid)] ?? { turn: null }
      return admit({ conversationId: id, turn, model: model ?? null }, key)
    },
  }
}

/** A directory with `renamed` in its name is the same one. */
function planMove({ workDir: from }: ConversationDetail, to: string): ConversationMove {
  const resumes = to.includes('renamed')
  const why = resumes ? 'it is the directory of the session' : 'it is another directory'
  return { from, to, sessions: [{ agent: 'claude', session: SessionId.create(new Date()), resumes, why }] }
}

function newConversation(): ConversationDetail {
  const now = new Date()
  return {
    id: ConversationId.create(now),
    title: '',
    agent: 'claude',
    workDir: '/tmp',
    instructions: null,
    historyScope: 'shared',
    turnCount: 0,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
    agents: [],
    messages: [],
  }
}

function newMessage(conversationId: ConversationId, turn: number, text: string): Message {
  const now = new Date()
  return {
    id: MessageId.create(now),
    conversationId,
    turn,
    role: 'user',
    agent: 'claude',
    blocks: [{ type: 'text', text }],
    state: 'complete',
    runId: null,
    origin: 'reprise',
    createdAt: now.toISOString(),
    editedAt: null,
  }
}
