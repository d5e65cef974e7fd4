/** Settings that may contain secrets: addresses with passwords, headers and commands with tokens, values to redact. */
import type { SettingPath } from './problem.ts'

export function isPrivate([section, second, key]: SettingPath): boolean {
  if (section === 'redact') return second === 'values'
  if (section === 'watches') return key === 'hookSecret' || key === 'webhook'
  return section === 'store' || key === 'env' || (section === 'notify' && key !== 'on')
}
