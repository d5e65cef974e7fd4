/** Which tools a tier has, by their names. */

/** Other names of the same tool. */
const ALIASES = new Map([
  ['Agent', 'Task'],
  ['MultiEdit', 'Edit'],
])

/** Tools that are of no use without another one. */
const PARTS = new Map([
  ['BashOutput', ['Bash']],
  ['KillShell', ['Bash']],
  ['TaskOutput', ['Bash', 'Task']],
  ['TaskStop', ['Bash', 'Task']],
])

/** Planning, finding tools, giving the answer: every tier has them. */
const EVERYWHERE = new Set([
  'StructuredOutput',
  'ToolSearch',
  'TodoWrite',
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
  'TaskGet',
])

/** They change nothing but the agent's own state; what a sub-agent does is checked in turn. */
const LOOKING = new Set([
  ...EVERYWHERE,
  ...PARTS.keys(),
  'Read',
  'Grep',
  'Glob',
  'LS',
  'LSP',
  'WebFetch',
  'WebSearch',
  'Task',
  'CronList',
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
])

export function toolIsKnownToLook(tool: string): boolean {
  return LOOKING.has(canonicalTool(tool))
}

function canonicalTool(tool: string): string {
  return ALIASES.get(tool) ?? tool
}

/** Whether the tier has the tool. `tools` are those it was given, without those that are denied. */
export function hasTool(tools: readonly string[], denied: readonly string[], tool: string): boolean {
  if (names(denied, tool)) return false
  if (EVERYWHERE.has(tool) || names(tools, tool)) return true
  return PARTS.get(tool)?.some((whole) => names(tools, whole) && !names(denied, whole)) ?? false
}

/** Whether the list has the tool: itself, under another name, or the MCP server it belongs to. */
export function names(list: readonly string[], tool: string): boolean {
  const wanted = canonicalTool(tool)
  return list.some((listed) => {
    const name = canonicalTool(listed)
    if (name === wanted) return true
    if (!name.startsWith('mcp__')) return false
    const server = name.replace(/__\*$/, '')
    return !server.slice(5).includes('__') && wanted.startsWith(`${server}__`)
  })
}

/** Whether the tier may change files. */
export function hasWritingTool(tools: readonly string[], denied: readonly string[]): boolean {
  return ['Write', 'Edit'].some((name) => hasTool(tools, denied, name))
}
