import type { WatchDefinition } from '../../contract/watch.ts'

/** A watch as the configuration has it. */
export interface ConfiguredWatch {
  name: string
  /** `workDir` is absolute. */
  definition: WatchDefinition
  paused: boolean
}
