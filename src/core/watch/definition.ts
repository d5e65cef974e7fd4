import type { WatchDefinition } from '../../contract/watch.ts'

/** A watch that is defined in the configuration. */
export interface ConfiguredWatch {
  name: string
  /** `workDir` is absolute. */
  definition: WatchDefinition
  paused: boolean
}
