/**
 * Turns the events of a run into what a person reads: texts, tool calls with their results, and single lines for what
 * happened around them. Events are applied one by one; an item that changes is replaced, so that only it is drawn again.
 */
import { aboutTool } from '../../src/contract/about-tool.ts'
import type { RunEvent } from '../../src/contract/events.ts'
import type { Outcome } from '../../src/contract/outcome.ts'
import { startText } from '../../src/contract/start-text.ts'
import type { ToolKind } from '../../src/contract/tool.ts'
import { formatCount, formatTokens } from '../format/amounts.ts'
import { resultText } from '../format/text.ts'
import { formatSpan } from '../format/time.ts'
import { OUTCOME_WORDS, type Standing } from '../format/words.ts'

export interface ToolItem {
  kind: 'tool'
  key: string
  id: string
  name: string
  toolKind: ToolKind
  about: string
  input: unknown
  startedAt: string | null
  endedAt: string | null
  result: { isError: boolean; content: unknown; clipped?: number | undefined } | null
  /** The call was made by a sub-agent. */
  nested: boolean
}

export type Item =
  | { kind: 'text'; key: string; text: string; open: boolean; nested: boolean; at: string | null }
  | { kind: 'thinking'; key: string; text: string; open: boolean; nested: boolean }
  | ToolItem
  | {
      kind: 'line'
      key: string
      standing: Standing | null
      text: string
      detail?: string
      at: string | null
      /** The tool call that a person is asked about. */
      asks?: string
    }
  | { kind: 'attempt'; key: string; number: number; text: string; at: string }
  | { kind: 'told'; key: string; texts: readonly string[] }
  | { kind: 'end'; key: string; outcome: Outcome; at: string; of: 'attempt' | 'run' }

export class Transcript {
  readonly #items: Item[] = []
  readonly #tools = new Map<string, number>()
  readonly #open = new Map<string, number>()
  readonly #asks = new Map<string, number>()

  /** The items so far. An item that changes is another object. */
  get items(): readonly Item[] {
    return this.#items
  }

  #push(item: Item): number {
    return this.#items.push(item) - 1
  }

  #line(event: RunEvent, standing: Standing | null, text: string, detail?: string): void {
    const line = { kind: 'line' as const, key: keyOf(event), standing, text, at: event.at }
    const asks = event.type === 'permission-ask' ? { asks: event.toolUseId } : {}
    const index = this.#push({ ...line, ...asks, ...(detail === undefined ? {} : { detail }) })
    if (event.type === 'permission-ask') this.#asks.set(event.toolUseId, index)
  }

  /** Text arrives in pieces, and then once more as a whole. */
  #grow(
    event: RunEvent & { text: string; parentToolUseId?: string | undefined },
    kind: 'text' | 'thinking',
    end: boolean,
  ) {
    const slot = `${kind}/${event.parentToolUseId ?? ''}`
    const index = this.#open.get(slot)
    const known = index === undefined ? undefined : this.#items[index]
    if (index !== undefined && known?.kind === kind) {
      this.#items[index] = { ...known, text: end ? event.text : known.text + event.text, open: !end }
    } else {
      const nested = event.parentToolUseId !== undefined
      const at = this.#push({ kind, key: keyOf(event), text: event.text, open: !end, nested, at: event.at })
      this.#open.set(slot, at)
    }
    if (end) this.#open.delete(slot)
  }

  take(event: RunEvent): void {
    switch (event.type) {
      case 'attempt-start':
        this.#open.clear()
        this.#push({
          kind: 'attempt',
          key: keyOf(event),
          number: event.number,
          text: event.makesRoom ? 'compacts the session to make room' : startText(event),
          at: event.at,
        })
        break
      case 'context-add':
        this.#push({ kind: 'told', key: keyOf(event), texts: event.texts })
        break
      case 'text-delta':
      case 'text-end':
        this.#grow(event, 'text', event.type === 'text-end')
        break
      case 'thinking-delta':
      case 'thinking-end':
        this.#grow(event, 'thinking', event.type === 'thinking-end')
        break
      case 'tool-start':
        this.#tools.set(
          event.toolUseId,
          this.#push({
            kind: 'tool',
            key: keyOf(event),
            id: event.toolUseId,
            name: event.name,
            toolKind: event.kind ?? 'other',
            about: aboutTool(event),
            input: event.input,
            startedAt: event.at,
            endedAt: null,
            result: null,
            nested: event.parentToolUseId !== undefined,
          }),
        )
        break
      case 'tool-end': {
        const index = this.#tools.get(event.toolUseId)
        const call = index === undefined ? undefined : this.#items[index]
        if (index !== undefined && call?.kind === 'tool') {
          const { isError, content } = event
          this.#items[index] = { ...call, endedAt: event.at, result: { isError, content } }
        }
        break
      }
      case 'permission-ask':
        this.#line(event, 'ask', `asks to use ${event.tool}`, aboutTool(event))
        break
      case 'question-answer':
        this.#closeAsk(event.toolUseId)
        this.#line(
          event,
          event.decision === 'deny' ? 'off' : 'done',
          `${event.by === 'person' ? 'a person' : 'a rule'} ${ANSWERED[event.decision]}`,
          event.reason,
        )
        break
      case 'message':
        this.#line(event, null, `read a message from ${event.from ?? 'the user'}`, event.text)
        break
      case 'question-cancel':
        this.#line(event, 'off', 'the agent withdrew its question')
        break
      case 'refusal':
        this.#line(event, 'off', `refused${event.dryRun ? ' (dry run)' : ''}: ${event.what}`, event.reason)
        break
      case 'follow-up':
        this.#line(event, 'wait', `follow-up ${event.action}`, event.message)
        break
      case 'program-start':
        this.#line(event, 'work', `starts outside the sandbox: ${event.what}`)
        break
      case 'program-end':
        this.#line(
          event,
          event.exitCode === 0 ? 'done' : 'fail',
          `${event.what}: ${event.exitCode === null ? 'not started, or outcome unknown' : `exit ${event.exitCode}`}${event.durationMs === undefined ? '' : `, ${formatSpan(event.durationMs)}`}`,
          event.message,
        )
        break
      case 'retry-wait':
        this.#line(
          event,
          'wait',
          `request failed${event.apiStatus ? ` (${event.apiStatus})` : ''}, try ${event.number}${event.delayMs === undefined ? '' : ` in ${formatSpan(event.delayMs)}`}`,
          event.message,
        )
        break
      case 'rate-limit':
        if (event.status !== 'allowed') {
          this.#line(event, 'wait', `usage limit: ${event.status.replaceAll('_', ' ')}`, event.limit)
        }
        break
      case 'compaction':
        this.#line(
          event,
          null,
          `context compacted${event.preTokens === undefined ? '' : ` from ${formatTokens(event.preTokens)} tokens`}`,
        )
        break
      case 'reminder':
        this.#line(
          event,
          null,
          `was told its instructions and its task again${event.whole ? '' : '; the task was shortened and follows with the next message'}`,
        )
        break
      case 'memory-clear':
        this.#line(event, null, 'the agent has forgotten all that was said before')
        break
      case 'left-out':
        this.#line(
          event,
          null,
          `${formatCount(event.characters)} characters of the history did not fit and were left out`,
        )
        break
      case 'gap':
        this.#line(
          event,
          'fail',
          event.reason === 'disk-full'
            ? 'output may be missing here: the disk was full'
            : `${formatCount(event.to - event.from)} bytes of output are not shown: ${event.reason}`,
        )
        break
      case 'notice':
      case 'note':
        this.#line(event, null, event.text)
        break
      case 'stop-request':
        this.#line(event, 'off', `is being stopped: ${event.message}`)
        break
      case 'raw-line':
        this.#line(event, null, event.text)
        break
      case 'attempt-end':
        this.#closeTools()
        for (const id of this.#asks.keys()) this.#closeAsk(id)
        if (event.outcome.name !== 'completed') {
          this.#push({ kind: 'end', key: keyOf(event), outcome: event.outcome, at: event.at, of: 'attempt' })
        }
        break
      case 'run-end':
        this.#push({ kind: 'end', key: keyOf(event), outcome: event.outcome, at: event.at, of: 'run' })
        break
      default:
        break
    }
  }

  /** What has been answered needs nobody any more. */
  #closeAsk(toolUseId: string): void {
    const index = this.#asks.get(toolUseId)
    const line = index === undefined ? undefined : this.#items[index]
    if (index !== undefined && line?.kind === 'line') this.#items[index] = { ...line, standing: null }
    this.#asks.delete(toolUseId)
  }

  /** Calls without a result when the process ended: their outcome is not known. */
  #closeTools(): void {
    for (const [id, index] of this.#tools) {
      const call = this.#items[index]
      if (call?.kind === 'tool' && call.result === null && call.endedAt === null) {
        this.#items[index] = { ...call, endedAt: call.startedAt }
      }
      this.#tools.delete(id)
    }
  }
}

const ANSWERED = { allow: 'allowed it', deny: 'denied it', answer: 'answered' } as const

const keyOf = ({ runId, seq }: RunEvent) => `${runId}/${seq}`

/** How it ended, in a few words. */
export const outcomeText = ({ name, message }: Outcome) =>
  message && message !== OUTCOME_WORDS[name] ? `${OUTCOME_WORDS[name]}: ${message}` : OUTCOME_WORDS[name]

/** For searching: what is read of an item, in lower case. */
export function textOfItem(item: Item): string {
  const parts =
    item.kind === 'tool'
      ? [item.name, item.about, resultText(item.result?.content)]
      : item.kind === 'end'
        ? [outcomeText(item.outcome)]
        : item.kind === 'line'
          ? [item.text, item.detail ?? '']
          : item.kind === 'told'
            ? item.texts
            : [item.text]
  return parts.join(' ').toLowerCase()
}
