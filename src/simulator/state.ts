/** The state of one running simulator: the scenario and how far it has been played, holds, cache, records. */
import { Holds } from './holds.ts'
import type { Captures } from './match.ts'
import { PromptCache } from './prompt-cache.ts'
import { Recorder } from './recorder.ts'
import type { Failure, Rule, Scenario, Step } from './scenario-types.ts'

/** What answers a request: a rule's steps, or the rest of them if an earlier reply had to stop half-way. */
export interface Script {
  /** The name in the request record. */
  name: string
  /** The rule whose `times` this playback counts for; none for built-in replies and for the later parts of a reply. */
  rule: Rule | undefined
  steps: Step[]
  captures: Captures
}

const MAX_RESTS = 10_000

export class SimulatorState {
  readonly now: () => number
  readonly recorder: Recorder
  readonly holds = new Holds()
  readonly cache = new PromptCache()
  /** Counts of requests to paths outside the Messages API, such as the CLI's reachability probe. */
  readonly otherRequests = new Map<string, number>()
  #scenario: Scenario
  readonly #fired = new Map<Rule, number>()
  readonly #failed = new Map<Failure, number>()
  readonly #rests = new Map<string, Script>()

  constructor(scenario: Scenario, options: { now: () => number; maxRecords: number }) {
    this.#scenario = scenario
    this.now = options.now
    this.recorder = new Recorder(options.maxRecords)
  }

  get scenario(): Scenario {
    return this.#scenario
  }

  get fired(): ReadonlyMap<Rule, number> {
    return this.#fired
  }

  /** Starts a scenario from its beginning. Replies in progress continue as they were scripted. */
  play(scenario: Scenario): void {
    this.#scenario = scenario
    this.#fired.clear()
    this.#failed.clear()
    this.#rests.clear()
  }

  /** Resets to the start: same scenario, nothing played, cached, recorded or held. */
  reset(): void {
    this.play(this.#scenario)
    this.holds.clear()
    this.cache.clear()
    this.recorder.clear()
    this.otherRequests.clear()
  }

  countFiring(rule: Rule, change: 1 | -1): void {
    this.#fired.set(rule, Math.max(0, (this.#fired.get(rule) ?? 0) + change))
  }

  /** Counts a failure that is about to happen, unless it has happened `times` times already. */
  spend(failure: Failure): 'spent' | 'last' | 'more' {
    const count = (this.#failed.get(failure) ?? 0) + 1
    if (count > failure.times) return 'spent'
    this.#failed.set(failure, count)
    return count === failure.times ? 'last' : 'more'
  }

  /**
   * Keeps the rest of a reply under the key by which it will be requested: the id of a tool use, or the prompt of a
   * reply that was cut.
   */
  keepRest(key: string, script: Script): void {
    this.#rests.set(key, script)
    if (this.#rests.size <= MAX_RESTS) return
    const [oldest] = this.#rests.keys()
    if (oldest !== undefined) this.#rests.delete(oldest)
  }

  restOf(key: string): Script | undefined {
    return this.#rests.get(key)
  }
}
