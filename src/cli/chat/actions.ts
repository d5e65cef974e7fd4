/** The commands of a chat, except those that take a turn. */
import type { ConversationDetail, Message } from '../../contract/conversation.ts'
import { type CliContext, notify } from '../base/context.ts'
import { readInstructions } from '../base/instructions-file.ts'
import { usageError } from '../base/usage-error.ts'
import { count } from '../terminal/amounts.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { type ChatInput, chatHelp, type InstructionsChange } from './command.ts'
import { conversationLines, historyLines } from './conversation-text.ts'
import type { Chat } from './state.ts'

export type ChatAction = Exclude<ChatInput, { kind: 'say' | 'retry' | 'quit' | 'mistake' }>

/** `note` prints a line while a turn is shown; otherwise the lines go to stderr. */
export async function act(
  chat: Chat,
  action: ChatAction,
  context: CliContext,
  note?: (line: string) => void,
): Promise<void> {
  const style = styleFor(context.stderr, context.env)
  const print = note ?? ((line: string) => notify(context, style.safe(line)))
  const show = (lines: readonly string[]) => {
    for (const line of lines) print(line)
  }
  const tell = note ?? ((line: string) => notify(context, style.dim(style.safe(line))))
  const { id } = chat.conversation

  switch (action.kind) {
    case 'help':
      return show(chatHelp())
    case 'history': {
      const { messages } = await read(chat)
      return messages.length === 0
        ? tell('there are no messages yet')
        : show(historyLines(messages, widthOf(context.stderr)))
    }
    case 'edit': {
      const message = pick(await read(chat), action.number)
      await chat.ask((client) => client.editMessage(id, message.id, action.text))
      const again = message.role === 'user' ? `; ask again with /retry ${action.number}` : ''
      return tell(`changed message ${action.number}${again}`)
    }
    case 'drop': {
      const message = pick(await read(chat), action.number)
      const { removed } = await chat.ask((client) => client.truncate(id, message.id))
      return tell(`removed ${count(removed, 'message')}`)
    }
    case 'fresh':
      chat.freshNext = true
      return tell('the next turn starts a new session with the history')
    case 'agent':
      return tell(await switchAgent(chat, action.name))
    case 'model':
      chat.model = action.name ?? undefined
      return tell(
        action.name ? `the next turns use ${action.name}` : "the next turns use the agent's default model",
      )
    case 'instructions':
      return show(await changeInstructions(chat, action.change, context))
    case 'title':
      await chat.ask((client) => client.updateConversation(id, { title: action.text }))
      chat.isUsed = true
      return tell('renamed')
    case 'info':
      return show(conversationLines(await read(chat)))
    case 'stop':
      return tell('no turn is being answered')
  }
}

const read = (chat: Chat): Promise<ConversationDetail> =>
  chat.ask((client) => client.getConversation(chat.conversation.id))

/** Finds a message by its number in /history; the last one if no number is given. */
export async function findMessage(chat: Chat, number: number | null): Promise<Message> {
  const conversation = await read(chat)
  if (conversation.messages.length === 0) throw usageError('there are no messages yet')
  return pick(conversation, number ?? conversation.messages.length)
}

function pick({ messages }: ConversationDetail, number: number): Message {
  const message = messages[number - 1]
  if (message) return message
  const have =
    messages.length === 0
      ? 'There are no messages yet.'
      : `There are ${messages.length}; /history lists them.`
  throw usageError(`there is no message ${number}`, have)
}

async function switchAgent(chat: Chat, name: string | null): Promise<string> {
  const agents = await chat.ask((client) => client.listAgents())
  const names = agents.map((agent) => agent.name)
  const current = chat.agent ?? chat.conversation.agent
  if (name === null) {
    return names.map((known) => (known === current ? `${known} (current)` : known)).join(', ')
  }
  if (!names.includes(name))
    throw usageError(`there is no agent ${name}`, `Known agents: ${names.join(', ')}`)
  chat.agent = name
  return `${name} answers the next turns`
}

async function changeInstructions(
  chat: Chat,
  change: InstructionsChange,
  context: CliContext,
): Promise<string[]> {
  const { id } = chat.conversation
  if (change.to === 'show') {
    const { instructions } = await read(chat)
    return instructions === null ? ['there are no instructions'] : instructions.split('\n')
  }
  const text = change.to === 'file' ? await readInstructions(change.path, context) : null
  const instructions = change.to === 'text' ? change.text : text
  await chat.ask((client) => client.updateConversation(id, { instructions }))
  chat.isUsed = true
  return [
    instructions === null ? 'instructions removed' : 'instructions set; they are sent with the next turn',
  ]
}
