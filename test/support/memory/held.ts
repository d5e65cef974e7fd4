/** An agent that says something and then waits for the test. */
import type { Script } from './script.ts'

export class HeldAgent {
  #release = () => {}
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve
  })
  readonly #said: string
  readonly #answer: string

  constructor(said: string, answer = '') {
    this.#said = said
    this.#answer = answer
  }

  /** Lets it finish with its answer. */
  release(): void {
    this.#release()
  }

  readonly script: Script = async (agent) => {
    await agent.begin()
    agent.print({ type: 'text-delta', text: this.#said })
    await this.#released
    agent.finish(this.#answer)
    return agent.leave()
  }
}
