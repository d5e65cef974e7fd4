/**
 * Reprise's own settings in a work directory (`reprise.yaml`). They concern the runs in that directory only, and can only make them
 * stricter.
 */
import type { DirectoryContent } from '../../agents/directory-content.ts'
import type { PermissionMode } from '../../contract/create-run.ts'
import type { RuleSettings } from '../../core/shell/tool-rules.ts'

export interface ProjectFile extends DirectoryContent {
  path: string
  /** Why it has no effect although it can be read. */
  mistakes: readonly string[]
  limits: ProjectLimits
}

export interface ProjectLimits {
  permissions?: PermissionMode | undefined
  sandbox?: true | undefined
  dryRun?: true | undefined
  maxTier?: number | undefined
  /** Added to the rules of the configuration. */
  policy?: Pick<RuleSettings, 'never' | 'protectedPaths'> | undefined
}
