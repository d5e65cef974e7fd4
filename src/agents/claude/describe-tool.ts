/**
 * Describes Claude Code's tools in neutral words. A tool that is not listed (of an MCP server, or a new one) is
 * `other`.
 */
import type { ToolDescription } from '../../contract/tool.ts'
import { isScheduling } from './scheduling.ts'
import { isRecord, type Json } from './wire.ts'

const SHELL: ReadonlySet<string> = new Set(['Bash', 'Monitor'])
/** Tools that change files, and the field that contains the file name. */
const WRITE: ReadonlyMap<string, string> = new Map([
  ['Write', 'file_path'],
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
])
/** Tools that only read, and the field that contains the file or directory, if there is one. */
const READ: ReadonlyMap<string, string | null> = new Map([
  ['Read', 'file_path'],
  ['NotebookRead', 'notebook_path'],
  ['Grep', 'path'],
  ['Glob', 'path'],
  ['LS', 'path'],
  ['LSP', 'path'],
  ['WebFetch', null],
  ['WebSearch', null],
])
const AGENT: ReadonlySet<string> = new Set(['Agent', 'Task'])
export const QUESTION = 'AskUserQuestion'
const INTERNAL: ReadonlySet<string> = new Set(['StructuredOutput', 'TodoWrite', 'ToolSearch'])

export function describeClaudeTool(name: string, input: unknown): ToolDescription {
  const given = isRecord(input) ? input : {}
  if (SHELL.has(name)) {
    const { command, run_in_background: inBackground } = given
    return {
      kind: 'shell',
      ...(typeof command === 'string' ? { command } : {}),
      ...(inBackground === true ? { background: true } : {}),
    }
  }
  const written = WRITE.get(name)
  if (written !== undefined) return { kind: 'write', ...pathIn(given, written) }
  const read = READ.get(name)
  if (read !== undefined) {
    const path = read === null ? {} : pathIn(given, read)
    return { kind: 'read', ...path, ...subjectIn(given, ['pattern', 'url', 'query']) }
  }
  if (AGENT.has(name)) {
    const background = given.run_in_background === true ? { background: true as const } : {}
    return { kind: 'agent', ...subjectIn(given, ['description', 'prompt']), ...background }
  }
  if (name === QUESTION) return { kind: 'question', ...questionsIn(given) }
  if (isScheduling(name)) return { kind: 'schedule', ...subjectIn(given, ['prompt', 'id']) }
  if (INTERNAL.has(name)) return { kind: 'other', internal: true }
  const background = given.run_in_background === true ? { background: true as const } : {}
  return { kind: 'other', ...subjectIn(given, TELLING), ...background }
}

/** Fields that describe a call of an unlisted tool, the most informative first. */
const TELLING = ['command', 'file_path', 'notebook_path', 'path', 'pattern', 'url', 'query', 'prompt']

function pathIn(given: Json, key: string): { paths?: string[] } {
  const path = given[key]
  return typeof path === 'string' ? { paths: [path] } : {}
}

function subjectIn(given: Json, keys: readonly string[]): { subject?: string } {
  const subject = keys.map((key) => given[key]).find((value) => typeof value === 'string')
  return typeof subject === 'string' ? { subject } : {}
}

function questionsIn({ questions }: Json): { questions?: string[] } {
  const asked = (Array.isArray(questions) ? questions : []).flatMap((item) =>
    isRecord(item) && typeof item.question === 'string' ? [item.question] : [],
  )
  return asked.length > 0 ? { questions: asked } : {}
}
