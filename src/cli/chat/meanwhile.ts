/**
 * Handles the lines that a person enters while a turn runs. A message is said to the agent at work; commands are carried out at once, or after
 * the turn if they would change what the turn works on.
 *
 * A message: entered → sent, by a key that makes repetition harmless → read, or, if the run ended first, the next turn, or
 * missed, if the turn was cancelled. Messages are sent in the order in which they were entered.
 */
import { randomUUID } from 'node:crypto'
import type { RunEvent } from '../../contract/events.ts'
import type { RunMessage } from '../../contract/run-message.ts'
import { type CliContext, notify } from '../base/context.ts'
import type { LineInput } from '../run/line-input.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { act } from './actions.ts'
import { type ChatInput, parseChatInput } from './command.ts'
import type { ChatReader } from './input.ts'
import type { Chat } from './state.ts'

export interface MeanwhileOptions {
  reader: Pick<ChatReader, 'readMeanwhile'>
  /** Called with a command that has to wait for the end of the turn. */
  postpone: (input: ChatInput) => void
  /** Leaves the chat; the turn continues. */
  quit: () => void
}

/** A turn that began with a message that nobody had read. */
export interface NextTurn {
  runId: string
  text: string
}

export interface Meanwhile {
  input: LineInput
  see: (event: RunEvent) => void
  /** Called when the run exists: from then on messages can be sent. */
  begin: (runId: string) => void
  /** Called when the run has ended. */
  end: () => Promise<NextTurn[]>
  close: () => void
}

interface Said {
  text: string
  key: string
  id: string | null
}

export function openMeanwhile(
  chat: Chat,
  context: CliContext,
  { reader, postpone, quit }: MeanwhileOptions,
): Meanwhile {
  const style = styleFor(context.stderr, context.env)
  const started = Promise.withResolvers<string>()
  const messages: Said[] = []
  const read = new Set<string>()
  let view: Parameters<LineInput['showIn']>[0] = null
  let begun = false
  let stopping = false
  let work: Promise<void> = Promise.resolve()

  const note = (line: string) => (view ? view.note(line) : notify(context, style.dim(style.safe(line))))
  const inOrder = (step: () => Promise<void> | void) => {
    work = work.then(step).catch((error: unknown) => note(`error: ${messageOf(error)}`))
  }
  const send = async ({ text, key }: Said): Promise<RunMessage> => {
    const runId = await started.promise
    return chat.ask((client) => client.say(runId, { text }, { idempotencyKey: key }))
  }
  const passOn = async (said: Said) => {
    try {
      const { id, state } = await send(said)
      said.id = id
      if (state === 'waiting') note('  passed on; the agent reads it after its current step')
      if (state === 'turn') note('  the turn has just ended; it will be the next turn')
    } catch (error) {
      note(`  could not be passed on: ${messageOf(error)}. It is sent again at the end of the turn`)
    }
  }
  const stop = () => {
    if (!stopping) context.interrupt()
    stopping = true
  }

  const take = (typed: string) => {
    const input = parseChatInput(typed)
    if (input === null) return
    note(`› ${firstLine(typed, 300)}`)
    switch (input.kind) {
      case 'say': {
        // Commands of the agent are obeyed only at the beginning of a turn.
        if (input.text.startsWith('/')) return afterTurn(input)
        const said = { text: input.text, key: randomUUID(), id: null }
        messages.push(said)
        return inOrder(() => passOn(said))
      }
      case 'retry':
      case 'edit':
      case 'drop':
        return afterTurn(input)
      case 'stop':
        return stop()
      case 'quit':
        return inOrder(quit)
      case 'mistake':
        note(`  error: ${input.message}`)
        return note(`  hint: ${input.hint}`)
      default:
        return inOrder(() => act(chat, input, context, note))
    }
  }
  const afterTurn = (input: ChatInput) => {
    note('  this follows when the turn has ended')
    postpone(input)
  }

  const typing = reader.readMeanwhile({
    onMessage: take,
    onTyped: (typed) => view?.showTyped(typed),
    onLeave: () => inOrder(quit),
  })

  return {
    input: {
      keys: typing,
      showIn: (shown) => {
        view = shown
        view?.showTyped(typing.typed())
      },
    },
    see: (event) => {
      if (event.type === 'message') read.add(event.messageId)
    },
    begin: (runId) => {
      begun = true
      started.resolve(runId)
    },
    end: async () => {
      typing.close()
      await work
      const next: NextTurn[] = []
      for (const said of messages) {
        if (said.id !== null && read.has(said.id)) continue
        // The daemon says what became of it, and takes it now if it could not be sent before.
        const { state, nextRunId } = await send(said)
        if (state === 'turn' && nextRunId !== null) next.push({ runId: nextRunId, text: said.text })
        if (state === 'missed')
          note(`the agent has not read: ${firstLine(said.text, 300)} (the up arrow brings it back)`)
      }
      return next
    },
    close: () => {
      typing.close()
      // The turn could not be started, so there is no run to say them to.
      if (!begun) for (const { text } of messages) postpone({ kind: 'say', text })
    },
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
