/** A chat on a terminal: reads messages and shows answers until the user leaves. Errors are shown, and the chat continues. */

import { type CliContext, notify } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { reportError } from '../daemon/report-error.ts'
import { summarizeTurn } from '../run/summary.ts'
import { count } from '../terminal/amounts.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { act, findMessage } from './actions.ts'
import { type ChatInput, parseChatInput } from './command.ts'
import { otherDirectory, titleOf } from './conversation-text.ts'
import { createChatReader } from './input.ts'
import { type Chat, nextTurn } from './state.ts'
import { followTurn, retry, say, type TurnEnd, type TurnOptions } from './turn.ts'

export async function chatOnTerminal(chat: Chat, context: CliContext): Promise<void> {
  const style = styleFor(context.stderr, context.env)
  const left = new AbortController()
  const reader = createChatReader(context)
  /** Commands that were entered during a turn and wait for its end. */
  const postponed: ChatInput[] = []
  let quits = false
  const quit = () => {
    quits = true
    left.abort()
  }
  const options: TurnOptions = {
    leave: () => left.abort(),
    signal: left.signal,
    meanwhile: { reader, postpone: (input) => postponed.push(input), quit },
  }
  const guard = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (!left.signal.aborted) await reportError(error, context)
    }
  }
  const show = async (end: Promise<TurnEnd>) => {
    const { settled, next } = await end
    for (const line of summarizeTurn(settled, style)) notify(context, line)
    for (const { runId, text } of next) {
      notify(context, style.dim(style.safe(`next turn, typed before: ${firstLine(text, 300)}`)))
      await show(followTurn(chat, runId, context, options))
    }
  }

  for (const line of greeting(chat, context.cwd)) notify(context, style.dim(style.safe(line)))
  await guard(async () => {
    for (const runId of await openRuns(chat)) {
      notify(context, style.dim('the last answer is still running:'))
      await show(followTurn(chat, runId, context, options))
    }
  })

  const nextInput = async (): Promise<ChatInput | null> => {
    const waiting = postponed.shift()
    if (waiting) return waiting
    warm(chat)
    const typed = await reader.read(style.bold(promptOf(chat)))
    return typed === null ? { kind: 'quit' } : parseChatInput(typed)
  }
  while (!left.signal.aborted) {
    const input = await nextInput()
    if (input === null) continue
    if (input.kind === 'quit') break
    await guard(async () => {
      if (input.kind === 'say') return show(say(chat, input.text, context, options))
      if (input.kind === 'retry') {
        const { id } = await findMessage(chat, input.number)
        return show(retry(chat, id, context, options))
      }
      if (input.kind === 'mistake') {
        notify(context, `${style.red('error:')} ${style.safe(input.message)}`)
        return notify(context, `${style.dim('hint:')} ${style.safe(input.hint)}`)
      }
      return act(chat, input, context)
    })
  }

  if (left.signal.aborted && !quits) context.exitCode = EXIT.interrupted
  await leave(chat, context)
}

/** Has the agent started while the person writes. Without it the answer only takes longer. */
function warm(chat: Chat): void {
  if (chat.isNew && !chat.isUsed) return
  void chat.ask((client) => client.warmConversation(chat.conversation.id, nextTurn(chat))).catch(() => {})
}

function greeting({ conversation, agent, isNew }: Chat, cwd: string): string[] {
  const { id, workDir, turnCount } = conversation
  const past = isNew
    ? `New conversation ${id}`
    : `${titleOf(conversation)} (${id}, ${count(turnCount, 'turn')}; /history lists the messages)`
  return [
    `${past}, with ${agent ?? conversation.agent} in ${workDir}`,
    ...otherDirectory(conversation, cwd),
    '/help lists the commands, Ctrl-D leaves',
  ]
}

const promptOf = ({ conversation, agent, freshNext }: Chat) =>
  `${agent ?? conversation.agent}${freshNext ? ' (new session)' : ''} › `

/** Runs that still work on the answer to an earlier message. */
async function openRuns({ ask, conversation, isNew }: Chat): Promise<string[]> {
  if (isNew) return []
  const { messages } = await ask((client) => client.getConversation(conversation.id))
  const answered = new Set(messages.flatMap((item) => (item.role === 'assistant' ? [item.turn] : [])))
  const open: string[] = []
  for (const { role, turn, runId } of messages) {
    if (role !== 'user' || runId === null || answered.has(turn)) continue
    if ((await ask((client) => client.getRun(runId))).state !== 'settled') open.push(runId)
  }
  return open
}

async function leave({ ask, conversation, isNew, isUsed }: Chat, context: CliContext): Promise<void> {
  const { dim } = styleFor(context.stderr, context.env)
  if (!isNew || isUsed) return notify(context, dim(`Continue with: reprise chat ${conversation.id}`))
  // The conversation is empty. If this fails, it stays behind, which does no harm.
  await ask((client) => client.deleteConversation(conversation.id)).catch(() => {})
}
