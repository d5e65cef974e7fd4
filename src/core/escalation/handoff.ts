/**
 * The handoff: what a tier is given of the tiers before it when their session cannot be resumed. It contains their
 * reports and the commands that Reprise saw. It is clipped, keeping the newest commands, because it must fit into a
 * context window that may have been too small for the session.
 */

import { aboutTool } from '../../contract/about-tool.ts'
import { Handoff, type Recommendation } from '../../contract/escalation.ts'
import type { EventBody } from '../../contract/events.ts'
import type { RunId } from '../../contract/ids.ts'

export interface HandoffInput {
  runId: RunId
  fromRunId: RunId
  because: string
  task: string
  /** Root first. */
  tiers: readonly {
    tier: number
    outcome: string
    recommendation: Recommendation | null
    commands: readonly Command[]
  }[]
}

export type Command = Handoff['tiers'][number]['commands'][number]

const MAX_COMMANDS = 60
const OUTPUT_CHARS = 600
const WHAT_CHARS = 1000
const TEXT_CHARS = 4000
const LISTED = 100

export function composeHandoff({ runId, fromRunId, because, task, tiers }: HandoffInput): Handoff {
  return Handoff.parse({
    version: 1,
    runId,
    fromRunId,
    because,
    task: clip(task, 4 * TEXT_CHARS),
    tiers: tiers.map(({ tier, outcome, recommendation, commands }) => {
      const signal = recommendation?.signal
      const kept = commands.slice(-MAX_COMMANDS)
      return {
        tier,
        outcome,
        status: signal?.status ?? null,
        summary: clip(signal?.summary ?? '', TEXT_CHARS),
        checks: (signal?.checks ?? [])
          .slice(0, LISTED)
          .map((c) => ({ ...c, finding: clip(c.finding, OUTPUT_CHARS) })),
        services: (signal?.services ?? []).slice(0, LISTED),
        actions: (signal?.actions ?? []).slice(0, LISTED),
        recommends: recommendsOf(recommendation),
        reason: clip(signal?.reason ?? '', TEXT_CHARS),
        commands: kept.map((c) => ({
          ...c,
          what: clip(c.what, WHAT_CHARS),
          output: clip(c.output, OUTPUT_CHARS),
        })),
        omitted: commands.length - kept.length,
      }
    }),
  })
}

const recommendsOf = (recommendation: Recommendation | null) =>
  recommendation?.escalate == null ? 'nothing' : recommendation.escalate ? 'escalate' : 'stop'

const HEADING =
  'Handoff: what the tiers before you found and did. Their session could not be resumed, so this is all there is of it. Commands that are listed have been run; do not run them again to learn the same.'

export const handoffText = (handoff: Handoff) => `${HEADING}\n\n${JSON.stringify(handoff, null, 1)}`

/** Collects the tool calls of a run from its events. */
export class CommandLog {
  readonly #byId = new Map<string, Command>()

  note(body: EventBody): void {
    if (body.type === 'tool-start') {
      if (body.internal) return
      const what = aboutTool(body)
      this.#byId.set(body.toolUseId, { tool: body.name, what, outcome: 'unknown', output: '' })
    } else if (body.type === 'tool-end') {
      const command = this.#byId.get(body.toolUseId)
      if (command?.outcome !== 'unknown') return
      command.outcome = body.isError ? 'error' : 'ok'
      command.output = clip(textOf(body.content), 2 * OUTPUT_CHARS)
    } else if (body.type === 'follow-up') {
      // The agent's own tool was blocked, so its result looks like a refusal; Reprise has planned the follow-up.
      const command = this.#byId.get(body.toolUseId)
      if (command) Object.assign(command, { outcome: 'ok', output: body.message })
    } else if (body.type === 'refusal' && body.toolUseId !== undefined) {
      const command = this.#byId.get(body.toolUseId)
      if (command) Object.assign(command, { outcome: 'refused', output: body.reason })
    }
  }

  get commands(): Command[] {
    return [...this.#byId.values()]
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block) => (typeof block?.text === 'string' ? block.text : '')).join('\n')
}

const clip = (text: string, max: number) => (text.length <= max ? text : `${text.slice(0, max)}…`)
