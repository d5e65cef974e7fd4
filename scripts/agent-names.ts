/**
 * Names that only an agent's adapter may know: its tools, flags, models, output fields and its vendor's status codes.
 * `findNames` reports where a text contains one. Extend the lists when an adapter is added.
 */

export interface Found {
  line: number
  word: string
  what: 'tool' | 'flag' | 'model or vendor' | 'status code' | 'field or command'
}

/** Ordinary words among them count only as a whole string ('Read'), the others anywhere. */
export const TOOLS = [
  'Agent',
  'AskUserQuestion',
  'Bash',
  'BashOutput',
  'CronCreate',
  'CronDelete',
  'CronList',
  'Edit',
  'EnterPlanMode',
  'ExitPlanMode',
  'Glob',
  'Grep',
  'KillShell',
  'LS',
  'LSP',
  'Monitor',
  'MultiEdit',
  'NotebookEdit',
  'NotebookRead',
  'Read',
  'ScheduleWakeup',
  'Skill',
  'SlashCommand',
  'StructuredOutput',
  'Task',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskOutput',
  'TaskStop',
  'TaskUpdate',
  'TodoWrite',
  'ToolSearch',
  'WebFetch',
  'WebSearch',
  'Write',
] as const

/** Options that Reprise's own commands have too, so that hints may name them. */
export const SHARED_FLAGS = ['--model', '--max-budget-usd', '--max-turns'] as const

export const FLAGS = [
  '--add-dir',
  '--allowedTools',
  '--append-system-prompt',
  '--disallowedTools',
  '--fork-session',
  '--include-partial-messages',
  '--input-format',
  '--json-schema',
  '--mcp-config',
  '--output-format',
  '--permission-mode',
  '--permission-prompt-tool',
  '--resume',
  '--session-id',
  '--setting-sources',
  '--strict-mcp-config',
  '--tools',
] as const

const isOrdinary = (word: string) => /^[A-Z]+[a-z]*$/.test(word) && word !== 'Bash'
const oneOf = (words: readonly string[]) => words.map((word) => word.replaceAll('-', '[-]')).join('|')

const RULES: readonly (Pick<Found, 'what'> & { pattern: RegExp })[] = [
  { what: 'tool', pattern: new RegExp(`(?<=['"\`])(?:${oneOf(TOOLS)})(?=['"\`])`, 'g') },
  { what: 'tool', pattern: new RegExp(`\\b(?:${oneOf(TOOLS.filter((tool) => !isOrdinary(tool)))})\\b`, 'g') },
  { what: 'flag', pattern: new RegExp(`(?<![\\w-])(?:${oneOf(FLAGS)})(?![\\w-])`, 'g') },
  {
    what: 'model or vendor',
    pattern: /claude|anthropic|\b(?:sonnet|opus|haiku|codex|opencode|gemini|openai|gpt-\d[\w.]*)\b/gi,
  },
  { what: 'status code', pattern: /(?<![\w.])(?:401|403|429|529)(?![\w.])/g },
  { what: 'status code', pattern: /(?<=status\w*\s*(?:[=!]==|[<>]=?)\s*)[45]\d\d\b/gi },
  {
    what: 'field or command',
    pattern:
      /\b(?:run_in_background|file_path|notebook_path|tool_use_id|session_id|stop_reason|stream-json)\b|\/compact\b/g,
  },
]

export function findNames(text: string): Found[] {
  const found = text
    .split('\n')
    .flatMap((content, index) =>
      RULES.flatMap(({ what, pattern }) =>
        [...content.matchAll(pattern)].map(([word]) => ({ line: index + 1, word, what })),
      ),
    )
  const seen = new Set<string>()
  return found.filter(({ line, word, what }) => {
    const key = `${line} ${what} ${word}`
    return !seen.has(key) && seen.add(key)
  })
}

export interface Allowed {
  file: string
  word: string
  why: string
}

/** Keep this list short. An entry that is no longer needed is an error. */
export const ALLOWED: readonly Allowed[] = [
  {
    file: 'src/core/redact/rules.ts',
    word: 'anthropic',
    why: 'the name of a rule: keys of many vendors are recognised by their form, whichever agent is used',
  },
  { file: 'src/core/redact/rules.ts', word: 'openai', why: 'likewise' },
  {
    file: 'src/engine/notify/webhook.ts',
    word: '400',
    why: 'a status code of a notification target, not of a model',
  },
  {
    file: 'src/core/rules/program-options.ts',
    word: '--input-format',
    why: 'an option of apprise, which sends notifications',
  },
  { file: 'src/core/shell/inspect.ts', word: 'Glob', why: 'a part of a word in the syntax of a shell' },
  { file: 'src/core/shell/words.ts', word: 'Glob', why: 'likewise' },
]
