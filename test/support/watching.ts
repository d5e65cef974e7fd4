/** A watch on the scripted incident, and what becomes of its cycles. */
import type { Cycle, CycleDetail } from '../../src/contract/cycle.ts'
import type { Watch } from '../../src/contract/watch.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Incident, TASK } from './incident.ts'
import { until } from './world.ts'

export class Watching {
  readonly incident: Incident

  private constructor(incident: Incident) {
    this.incident = incident
  }

  get world() {
    return this.incident.world
  }

  static async begin(rules: readonly RuleInput[], config: object = {}, port = 0): Promise<Watching> {
    const incident = await Incident.prepare(rules, config)
    incident.world.env.REPRISE_PORT = String(port)
    await incident.world.startDaemon()
    return new Watching(incident)
  }

  add(definition: object = {}): Promise<Watch> {
    const wish = { name: 'web', workDir: this.world.workDir, prompt: TASK, ...definition }
    return this.world.api('POST', '/api/watches', wish)
  }

  watch(name = 'web'): Promise<Watch> {
    return this.world.api('GET', `/api/watches/${name}`)
  }

  /** Triggers a cycle now and returns its id. */
  async trigger(name = 'web', body: object = {}): Promise<string> {
    const { cycleId } = await this.world.api<{ cycleId: string }>(
      'POST',
      `/api/watches/${name}/trigger`,
      body,
    )
    return cycleId
  }

  async cycles(name = 'web'): Promise<Cycle[]> {
    const page = await this.world.api<{ items: Cycle[] }>('GET', `/api/watches/${name}/cycles`)
    return page.items.toReversed()
  }

  cycle(id: string): Promise<CycleDetail> {
    return this.world.api('GET', `/api/cycles/${id}`)
  }

  ended(id: string, timeoutMs = 150_000): Promise<CycleDetail> {
    return until(
      async () => {
        const cycle = await this.cycle(id)
        return cycle.state === 'ended' ? cycle : null
      },
      `cycle ${id} to end`,
      timeoutMs,
    )
  }

  waiting(id: string): Promise<CycleDetail> {
    return until(async () => {
      const cycle = await this.cycle(id)
      return cycle.state === 'waiting' ? cycle : null
    }, `cycle ${id} to wait`)
  }

  /**
   * Sets a stored time to now, so that no test waits for it or depends on how long agents take; the statement has a
   * placeholder for it. Returns it.
   */
  changeStored(statement: string): number {
    return this.world.changeStored(statement)
  }

  /** A change of the watch makes the daemon look at what is due. */
  async wake(): Promise<void> {
    await this.world.api('PATCH', '/api/watches/web', { maxDurationMs: 600_000 })
  }

  close(): Promise<void> {
    return this.incident.close()
  }
}
