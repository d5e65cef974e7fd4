/** One turn of a chat: sends the message, then follows the answer to its end. */
import { randomUUID } from 'node:crypto'
import type { Client } from '../../client/client.ts'
import type { KeyOptions } from '../../client/request.ts'
import type { Run, RunDetail } from '../../contract/run.ts'
import type { CliContext } from '../base/context.ts'
import { followToEnd } from '../run/follow.ts'
import { type MeanwhileOptions, type NextTurn, openMeanwhile } from './meanwhile.ts'
import { type Chat, nextTurn } from './state.ts'

export interface TurnOptions {
  /** Called on the second Ctrl-C. */
  leave: () => void
  signal?: AbortSignal
  /** Set if a person may type while the turn runs. */
  meanwhile?: MeanwhileOptions
}

export interface TurnEnd {
  settled: RunDetail
  interrupted: boolean
  /** Turns that followed because of what was typed too late for this one. */
  next: NextTurn[]
}

type Start = (client: Client, key: KeyOptions) => Promise<Run>

export function say(chat: Chat, text: string, context: CliContext, options: TurnOptions): Promise<TurnEnd> {
  const request = { text, ...nextTurn(chat) }
  const { id } = chat.conversation
  return takeTurn(
    chat,
    withSettings(chat, (client, key) => client.createTurn(id, request, key)),
    context,
    options,
  )
}

export function retry(
  chat: Chat,
  messageId: string,
  context: CliContext,
  options: TurnOptions,
): Promise<TurnEnd> {
  const request = nextTurn(chat)
  const { id } = chat.conversation
  return takeTurn(
    chat,
    withSettings(chat, (client, key) => client.retryFrom(id, messageId, request, key)),
    context,
    options,
  )
}

/** The turn is the one for which a new session was asked for. */
const withSettings =
  (chat: Chat, start: Start): Start =>
  async (client, key) => {
    const run = await start(client, key)
    chat.freshNext = false
    return run
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
  const meanwhile = options.meanwhile ? openMeanwhile(chat, context, options.meanwhile) : null
  try {
    const { client, run } = await chat.ask(async (client) => ({ client, run: await start(client, key) }))
    chat.isUsed = true
    meanwhile?.begin(run.id)
    const followed = {
      runId: run.id,
      noun: 'run',
      cancel: () => client.cancelRun(run.id),
      command: `reprise runs events --follow ${run.id}`,
    } as const
    const end = followToEnd(client, followed, context, {
      leave: options.leave,
      ...(options.signal ? { signal: options.signal } : {}),
      ...(meanwhile ? { input: meanwhile.input, see: meanwhile.see } : {}),
      announceResume: false,
    })
    if (isEarly) context.interrupt()
    const { settled, interrupted } = await end
    return { settled, interrupted, next: meanwhile ? await meanwhile.end() : [] }
  } finally {
    meanwhile?.close()
    context.interrupt = before
  }
}
