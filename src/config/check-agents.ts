/** Checks that each agent has an adapter. An agent that is named like an adapter need not set one. */
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
      const message = `needs adapter, one of ${known.join(', ')}`
      return problemAt(writerOf(sources, path), path, message)
    })
}
