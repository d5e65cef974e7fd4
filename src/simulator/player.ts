/**
 * Plays the steps of a reply onto a writer.
 *
 * The reply starts (status 200, `message_start`) with its first content, so waits, holds and errors before it happen
 * while the client still has no answer. A failure with `times: n` happens n times and is then passed over.
 * `await: results` ends the message; the steps after it are returned, to answer the results of the tools called.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ApiError } from './api-error.ts'
import { apiError, overflowError, rateLimitError } from './api-error.ts'
import { newId } from './ids.ts'
import { tokensOf } from './prompt-blocks.ts'
import type { Delta, ReplyWriter } from './reply-writer.ts'
import type { Usage } from './request-record.ts'
import type { Failure, Step, StopReason } from './scenario-types.ts'
import type { Fill } from './template.ts'
import { fillDeep } from './template.ts'

export interface Performance {
  writer: ReplyWriter
  model: string
  fill: Fill
  signal: AbortSignal
  now: () => number
  /** The input side of the usage; called once, when the reply starts. */
  charge: () => Usage
  promptTokens: number
  contextWindow: number | undefined
  /** Counts one more happening of this failure, if any is left, and says whether that was the last. */
  spend: (failure: Failure) => 'spent' | 'last' | 'more'
  hold: (name: string) => Promise<void>
}

export interface Played {
  outcome: 'answered' | 'failed' | 'cut'
  status: number | undefined
  usage: Usage | undefined
  toolUseIds: string[]
  /** The steps after `await: results`, or after the last break of a reply that had begun: what is still to be said. */
  rest: Step[]
  /** The reply failed at a step with `times`, and is scripted to go on once that is spent. */
  goesOn: boolean
}

export async function play(steps: readonly Step[], on: Performance): Promise<Played> {
  const played: Played = {
    outcome: 'answered',
    status: 200,
    usage: undefined,
    toolUseIds: [],
    rest: [],
    goesOn: false,
  }
  let outputTokens = 0
  let stopReason: StopReason = 'end_turn'
  const start = () => {
    if (on.writer.started) return
    played.usage = on.charge()
    on.writer.start({ id: newId('msg'), model: on.model, usage: played.usage })
  }
  // As it is generated: a client that leaves in the middle pays for what there is by then.
  const countOutput = (text: string) => {
    outputTokens += tokensOf(text)
    if (played.usage) played.usage.output_tokens = outputTokens
  }

  for (const [index, step] of steps.entries()) {
    on.signal.throwIfAborted()
    switch (step.do) {
      case 'text': {
        start()
        const text = on.fill(step.text)
        countOutput(text)
        on.writer.open({ type: 'text', text: '' })
        await deltas(chunks(text), step.paceMs, (piece) => ({ type: 'text_delta', text: piece }), on)
        on.writer.close()
        break
      }
      case 'thinking': {
        start()
        const thinking = on.fill(step.thinking)
        countOutput(thinking)
        on.writer.open({ type: 'thinking', thinking: '', signature: '' })
        await deltas(chunks(thinking), 0, (piece) => ({ type: 'thinking_delta', thinking: piece }), on)
        on.writer.delta({ type: 'signature_delta', signature: newId('sig') })
        on.writer.close()
        break
      }
      case 'tool': {
        start()
        const id = newId('toolu')
        const input = JSON.stringify(fillDeep(step.input, on.fill))
        countOutput(step.name + input)
        played.toolUseIds.push(id)
        stopReason = 'tool_use'
        on.writer.open({ type: 'tool_use', id, name: step.name, input: {} })
        await deltas(
          ['', ...chunks(input)],
          0,
          (piece) => ({ type: 'input_json_delta', partial_json: piece }),
          on,
        )
        on.writer.close()
        break
      }
      case 'wait':
        await delay(step.waitMs, undefined, { signal: on.signal })
        break
      case 'hold':
        await on.hold(step.hold)
        break
      case 'stop':
        stopReason = step.reason
        break
      case 'await-results':
        played.rest = steps.slice(index + 1)
        break
      default: {
        const left = on.spend(step)
        if (left === 'spent') break
        played.goesOn = Number.isFinite(step.times)
        if (left === 'last' && on.writer.started) played.rest = steps.slice(index + 1)
        played.status = on.writer.started ? 200 : undefined
        if (step.do === 'cut') {
          if (on.writer.started) await delay(CUT_DELAY_MS, undefined, { signal: on.signal })
          await on.writer.cut()
          return { ...played, outcome: 'cut' }
        }
        const error = errorOf(step, on)
        played.status ??= error.status
        on.writer.fail(error)
        return { ...played, outcome: 'failed' }
      }
    }
    if (step.do === 'await-results') break
  }
  start()
  const usage = { ...(played.usage ?? on.charge()), output_tokens: outputTokens }
  on.writer.end(stopReason, usage)
  return { ...played, usage }
}

function errorOf(failure: Exclude<Failure, { do: 'cut' }>, on: Performance): ApiError {
  if (failure.do === 'rate-limit') return rateLimitError(failure, on.now())
  if (failure.do === 'overflow') {
    const limit = failure.limit ?? on.contextWindow ?? 200_000
    return overflowError(failure.tokens ?? Math.max(on.promptTokens, limit + 1), limit)
  }
  const { status, type, message, retryAfterSeconds } = failure
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return { ...apiError(status, message, type), headers }
}

async function deltas(
  pieces: string[],
  paceMs: number,
  make: (piece: string) => Delta,
  on: Performance,
): Promise<void> {
  for (const piece of pieces) {
    on.writer.delta(make(piece))
    if (paceMs > 0) await delay(paceMs, undefined, { signal: on.signal })
  }
}

// A client that sees the connection break at once may drop what it has received but not read (Claude Code does).
const CUT_DELAY_MS = 100

/** Pieces of about this many characters, never splitting one that takes two code units. */
const CHUNK_CHARACTERS = 24

export function chunks(text: string): string[] {
  const characters = Array.from(text)
  const pieces: string[] = []
  for (let start = 0; start < characters.length; start += CHUNK_CHARACTERS) {
    pieces.push(characters.slice(start, start + CHUNK_CHARACTERS).join(''))
  }
  return pieces
}
