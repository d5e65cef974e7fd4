/** Shows the messages of a conversation, then the answers that are being written. */
import { type CliContext, notify, printJson } from '../base/context.ts'
import { print } from '../base/output.ts'
import { layOutMessages } from '../chat/conversation-text.ts'
import type { AskDaemon } from '../daemon/connect.ts'
import type { Attachment } from '../run/attachment.ts'
import { styleFor } from '../terminal/terminal.ts'
import { followRun } from './run.ts'

export async function followConversation(
  ask: AskDaemon,
  id: string,
  context: CliContext,
  attachment: Attachment,
): Promise<void> {
  const conversation = await ask((client) => client.getConversation(id))
  const open = await openRuns(ask, id)
  // The answer that is being written is shown as it is written.
  const said = conversation.messages.filter(
    ({ role, runId }) => role === 'user' || runId === null || !open.includes(runId),
  )
  if (context.json) await printJson(context, { type: 'conversation', ...conversation, messages: said })
  else {
    const messages = await layOutMessages(said, context)
    await print(
      context.stdout,
      messages
        .flatMap((lines) => [...lines, ''])
        .map((line) => `${line}\n`)
        .join(''),
    )
  }
  for (const runId of open) {
    await followRun(ask, runId, context, attachment)
    if (attachment.left.aborted) return
  }
  if (!context.json) {
    const { dim } = styleFor(context.stderr, context.env)
    notify(context, dim(`continue with: reprise chat ${id}`))
  }
}

/** Oldest first. */
async function openRuns(ask: AskDaemon, conversationId: string): Promise<string[]> {
  const { items } = await ask((client) => client.listRuns({ conversationId, limit: 20 }))
  return items
    .filter(({ state }) => state !== 'settled')
    .map(({ id }) => id)
    .reverse()
}
