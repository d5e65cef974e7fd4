/** Measures what a running attempt has done and spent, and detects that its budget is used up. */
import type { EventBody } from '../../contract/events.ts'
import type { Pricing } from '../../core/cost/pricing.ts'
import { overBudget } from '../../core/job/budget.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { METERED, Meter, type Reading } from '../accounting/meter.ts'
import { readRates } from '../accounting/rates.ts'
import { scanEvents } from '../base/events.ts'
import type { Purposes } from '../base/purposes.ts'

export interface BudgetWatchDeps {
  store: Pick<Store, 'getFact' | 'listEvents'>
  purposes: Pick<Purposes, 'of'>
}

export class BudgetWatch {
  readonly #deps: BudgetWatchDeps
  readonly #run: RunRecord
  readonly #pricing: Pricing
  /** Set only for unattended runs and those with a budget. */
  #meter: Meter | null = null

  constructor(deps: BudgetWatchDeps, run: RunRecord, pricing: Pricing) {
    this.#deps = deps
    this.#pricing = pricing
    this.#run = run
  }

  /** Adds what the attempt did before this daemon supervised it. */
  async open(attempt: AttemptRecord): Promise<void> {
    const { store, purposes } = this.#deps
    const purpose = purposes.of(this.#run)
    if (!purpose.unattended && !(await purpose.readAllowance(this.#run))) return
    const meter = new Meter(await readRates(store), this.#pricing)
    const query = { attemptId: attempt.id, types: METERED }
    await scanEvents(store, this.#run.id, query, ({ body, at }) => meter.note(body, at))
    this.#meter = meter
  }

  note(event: EventBody, at: Date): void {
    this.#meter?.note(event, at)
  }

  read(): Reading | null {
    return this.#meter?.read() ?? null
  }

  /** Returns why the attempt must be stopped, or null if some budget is left. */
  async findOverspending(): Promise<string | null> {
    const reading = this.read()
    const allowance = reading && (await this.#deps.purposes.of(this.#run).readAllowance(this.#run))
    if (!allowance) return null
    const { budget, before } = allowance
    const usd = reading.costUsd === null ? null : (before.usd ?? 0) + reading.costUsd
    return overBudget(budget, { usd, tokens: before.tokens + reading.tokens })
  }
}
