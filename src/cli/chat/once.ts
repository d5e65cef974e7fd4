/** Sends one message of a chat, for scripts: the answer goes to stdout, and the exit code tells the outcome. */

import { type CliContext, notify, printJson } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { summarizeTurn } from '../run/summary.ts'
import { styleFor } from '../terminal/terminal.ts'
import { otherDirectory } from './conversation-text.ts'
import type { Chat } from './state.ts'
import { say } from './turn.ts'

export async function chatOnce(chat: Chat, text: string, context: CliContext): Promise<void> {
  const leave = () => process.exit(EXIT.interrupted)
  if (!context.json && !chat.isNew) {
    for (const line of otherDirectory(chat.conversation, context.cwd)) notify(context, line)
  }
  const { settled, interrupted } = await say(chat, text, context, { leave })
  const { id } = chat.conversation
  if (context.json) {
    const { messages: _, ...conversation } = await chat.ask((client) => client.getConversation(id))
    await printJson(context, { type: 'conversation', ...conversation })
    await printJson(context, { type: 'run', ...settled })
  } else {
    const style = styleFor(context.stderr, context.env)
    for (const line of summarizeTurn(settled, style)) notify(context, line)
    notify(context, style.dim(`continue with: reprise chat ${id}`))
  }
  const code = settled.outcome === 'completed' ? EXIT.done : EXIT.failed
  context.exitCode = interrupted ? EXIT.interrupted : code
}
