/** The rules of a run: those of the configuration, and those of its work directory. */
import type { RuleSettings } from '../../core/shell/tool-rules.ts'
import type { RunRecord } from '../../store/runs/records.ts'

export function withPolicy(
  rules: RuleSettings,
  { request: { policy } }: Pick<RunRecord, 'request'>,
): RuleSettings {
  if (!policy) return rules
  return {
    ...rules,
    never: [...rules.never, ...policy.never],
    protectedPaths: [...rules.protectedPaths, ...policy.protectedPaths],
  }
}
