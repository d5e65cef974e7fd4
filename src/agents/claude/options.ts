/** The options that the caller of a query chose, as arguments and as fields of the first message, the way the Agent SDK passes it. */
import type { AgentOptions } from '../adapter.ts'

/** Each option is one token, so that no value can be read as another option. */
export function optionArgs({ allowedTools, deniedTools, permissionMode }: AgentOptions): string[] {
  return [
    ...(allowedTools.length > 0 ? [`--allowedTools=${allowedTools.join(',')}`] : []),
    ...(deniedTools.length > 0 ? [`--disallowedTools=${deniedTools.join(',')}`] : []),
    ...(permissionMode === 'bypassPermissions' ? ['--allow-dangerously-skip-permissions'] : []),
  ]
}

/** Without a system prompt of the caller the SDK sends an empty one, which turns off the CLI's own. */
export function systemPromptOf({ systemPrompt }: AgentOptions): object {
  if (systemPrompt === null) return { systemPrompt: [''] }
  const { texts, append } = systemPrompt
  if (!append) return { systemPrompt: texts }
  return texts.length > 0 ? { appendSystemPrompt: texts.join('\n') } : {}
}
