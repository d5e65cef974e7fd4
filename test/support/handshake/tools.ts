import type { ToolDescription } from '../../../src/contract/tool.ts'

/** Describes the only tool that the agent has. */
export function describeHandshakeTool(name: string, input: unknown): ToolDescription {
  const { cmd } = (input ?? {}) as { cmd?: unknown }
  if (name !== 'run_command') return { kind: 'other' }
  return { kind: 'shell', ...(typeof cmd === 'string' ? { command: cmd } : {}) }
}
