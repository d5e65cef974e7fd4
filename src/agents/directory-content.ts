/**
 * The content of a work directory that an agent obeys: files that make it start programs or skip questions. Adapters collect it; a person
 * trusts it (engine/trust). Texts for the model, such as instructions, are not part of it: they apply without trust.
 */
import { createHash } from 'node:crypto'
import type { Grant } from '../contract/trust.ts'

export interface DirectoryContent {
  files: readonly ContentFile[]
  /** Describes to people what the files would allow or start. */
  grants: readonly Grant[]
  /** Why the content cannot be read completely; such content cannot be trusted. */
  problems: readonly string[]
}

export interface ContentFile {
  /** Absolute. */
  path: string
  /** SHA-256 of the bytes. */
  hash: string
}

/** How an attempt treats the content of its work directory. */
export interface DirectoryPlan {
  workDir: string
  /** false: nothing of the content may apply. Texts for the model apply nevertheless. */
  applies: boolean
  /** Texts for the model that the agent would not find by itself if `applies` is false. */
  instructions: string | null
}

export const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
