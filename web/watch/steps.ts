/** The steps of a run on the axis of time: its tool calls, the programs that the broker started, answers of people. */
import { aboutTool } from '../../src/contract/about-tool.ts'
import type { RunEvent } from '../../src/contract/events.ts'

export interface Step {
  key: string
  /** `broker`: the broker started it outside the sandbox. */
  kind: 'tool' | 'broker' | 'answer'
  name: string
  about: string
  startedAt: number
  /** null: it has not ended. */
  endedAt: number | null
  failed: boolean
}

export class Steps {
  readonly steps: Step[] = []
  /** What Reprise told the agent besides its prompt, in all attempts. */
  readonly told: string[] = []
  readonly #open = new Map<string, Step>()

  take(event: RunEvent): void {
    const startedAt = Date.parse(event.at)
    const key = `${event.runId}/${event.seq}`
    switch (event.type) {
      case 'context-add':
        this.told.push(...event.texts)
        break
      case 'tool-start':
        if (event.internal) return
        this.#begin(event.toolUseId, {
          key,
          kind: 'tool',
          name: event.name,
          about: aboutTool(event),
          startedAt,
        })
        break
      case 'tool-end':
        this.#end(event.toolUseId, startedAt, event.isError)
        break
      case 'program-start': {
        // A command that is nothing but this program is one step.
        const call = [...this.#open.values()].find(({ about }) => about === event.what)
        if (call) call.kind = 'broker'
        else
          this.#begin(`broker ${event.what}`, {
            key,
            kind: 'broker',
            name: event.program,
            about: event.what,
            startedAt,
          })
        break
      }
      case 'program-end':
        this.#end(`broker ${event.what}`, startedAt, event.exitCode !== 0)
        break
      case 'question-answer': {
        if (event.by !== 'person') return
        const [name, about] = [`a person: ${event.decision}`, event.reason ?? '']
        this.#begin(key, { key, kind: 'answer', name, about, startedAt })
        this.#end(key, startedAt, false)
        break
      }
      case 'attempt-end':
        // What has no result by then has an unknown outcome.
        for (const id of [...this.#open.keys()]) this.#end(id, startedAt, true)
        break
    }
  }

  #begin(id: string, step: Omit<Step, 'endedAt' | 'failed'>): void {
    const begun = { ...step, endedAt: null, failed: false }
    this.steps.push(begun)
    this.#open.set(id, begun)
  }

  #end(id: string, endedAt: number, failed: boolean): void {
    const step = this.#open.get(id)
    if (!step) return
    this.#open.delete(id)
    Object.assign(step, { endedAt, failed })
  }
}
