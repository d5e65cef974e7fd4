/** One text for a tool call. Without schemas, because pages import it at run time. */
import type { MaybeDescribed } from './tool.ts'

/** Its command, its files, its subject, its questions, or else its input. */
export function aboutTool({
  command,
  paths,
  subject,
  questions,
  input,
}: MaybeDescribed & { input?: unknown }): string {
  if (command !== undefined) return command
  if (paths && paths.length > 0) return paths.join(', ')
  if (subject !== undefined) return subject
  if (questions && questions.length > 0) return questions.join(' / ')
  if (typeof input === 'object' && input !== null) return JSON.stringify(input)
  return String(input ?? '')
}
