/** Whether it is known of each agent what it behaves like. One named like an adapter need not say so. */
import { ADAPTERS } from '../contract/agent.ts'
import type { ConfigProblem } from './problem.ts'
import type { Config } from './schema.ts'
import { problemAt, type Source, writerOf } from './source.ts'

export function checkAgents({ agents }: Config, sources: readonly Source[]): ConfigProblem[] {
  const known: readonly string[] = ADAPTERS
  return Object.entries(agents)
    .filter(([name, { adapter = name }]) => !known.includes(adapter))
    .map(([name]) => {
      const path = ['agents', name]
      const message = `needs an adapter, what it behaves like: one of ${known.join(', ')}`
      return problemAt(writerOf(sources, path), path, message)
    })
}
