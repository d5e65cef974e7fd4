/** The steps of a run on the axis of time: its tool calls, the programs that the broker started, answers of people. */
import { aboutTool } from '../../src/contract/about-tool.ts'
import type { RunEvent } from '../../src/contract/events.ts'

export interface Step {
  key: string
  kind: 'tool' | 'broker' | 'answer'
  name: string
  about: string
  startedAt: number
  /** null: it has not ended. */
  endedAt: number | null
  failed: boolean
}

export function stepsOf(events: readonly RunEvent[]): Step[] {
  const steps: Step[] = []
  const open = new Map<string, Step>()
  const begin = (id: string, step: Omit<Step, 'key' | 'endedAt' | 'failed'>, event: RunEvent) => {
    const begun = { ...step, key: `${event.seq}`, endedAt: null, failed: false }
    steps.push(begun)
    open.set(id, begun)
  }
  const end = (id: string, event: RunEvent, failed: boolean) => {
    const step = open.get(id)
    if (!step) return
    open.delete(id)
    step.endedAt = Date.parse(event.at)
    step.failed = failed
  }
  for (const event of events) {
    const startedAt = Date.parse(event.at)
    if (event.type === 'tool-start' && !event.internal) {
      begin(event.toolUseId, { kind: 'tool', name: event.name, about: aboutTool(event), startedAt }, event)
    } else if (event.type === 'tool-end') end(event.toolUseId, event, event.isError)
    else if (event.type === 'program-start') {
      const step = { kind: 'broker', name: event.program, about: event.what, startedAt } as const
      begin(`broker ${event.what}`, step, event)
    } else if (event.type === 'program-end') end(`broker ${event.what}`, event, event.exitCode !== 0)
    else if (event.type === 'question-answer' && event.by === 'person') {
      const key = `${event.seq}`
      const about = event.reason ?? ''
      steps.push({
        kind: 'answer',
        key,
        name: `a person: ${event.decision}`,
        about,
        startedAt,
        endedAt: startedAt,
        failed: false,
      })
    } else if (event.type === 'attempt-end') {
      // What has no result by then has an unknown outcome.
      for (const id of open.keys()) end(id, event, true)
    }
  }
  return steps
}
