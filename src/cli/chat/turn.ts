/** One turn of a chat: sends the message, then follows the answer to its end. */
import { randomUUID } from 'node:crypto'
import type { Client } from '../../client/client.ts'
import type { KeyOptions } from '../../client/request.ts'
import type { Run, RunDetail } from '../../contract/run.ts'
import type { CliContext } from '../base/context.ts'
import { followToEnd } from '../run/follow.ts'
import { type Chat, nextTurn } from './state.ts'

export interface TurnOptions {
  /** Called on the second Ctrl-C. */
  leave: () => void
  signal?: AbortSignal
}

export interface TurnEnd {
  settled: RunDetail
  interrupted: boolean
}

type Start = (client: Client, key: KeyOptions) => Promise<Run>

export function say(chat: Chat, text: string, context: CliContext, options: TurnOptions): Promise<TurnEnd> {
  const request = { text, ...nextTurn(chat) }
  const { id } = chat.conversation
  return takeTurn(chat, (client, key) => client.createTurn(id, request, key), context, options)
}

export function retry(
  chat: Chat,
  messageId: string,
  context: CliContext,
  options: TurnOptions,
): Promise<TurnEnd> {
  const request = nextTurn(chat)
  const { id } = chat.conversation
  return takeTurn(chat, (client, key) => client.retryFrom(id, messageId, request, key), context, options)
}

/** Follows an answer that was already running. */
export async function followTurn(
  chat: Chat,
  runId: string,
  context: CliContext,
  options: TurnOptions,
): Promise<TurnEnd> {
  return takeTurn(chat, (client) => client.getRun(runId), context, options)
}

async function takeTurn(
  chat: Chat,
  start: Start,
  context: CliContext,
  options: TurnOptions,
): Promise<TurnEnd> {
  const key = { idempotencyKey: randomUUID() }
  const before = context.interrupt
  let isEarly = false
  // Remembers a Ctrl-C that comes before there is a run to cancel.
  context.interrupt = () => {
    isEarly = true
  }
  try {
    const { client, run } = await chat.ask(async (client) => ({ client, run: await start(client, key) }))
    chat.isUsed = true
    chat.freshNext = false
    const followed = {
      runId: run.id,
      noun: 'run',
      cancel: () => client.cancelRun(run.id),
      command: `reprise runs events --follow ${run.id}`,
    } as const
    const end = followToEnd(client, followed, context, { ...options, announceResume: false })
    if (isEarly) context.interrupt()
    return await end
  } finally {
    context.interrupt = before
  }
}
