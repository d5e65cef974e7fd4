/** Names of tools as they may stand in the settings of a tier, for agents that behave like Claude Code. */
import { KNOWN_TOOLS } from '../core/rules/defaults.ts'
import { nearestWord } from './nearest-word.ts'

/** null: it is known. */
export function unknownTool(name: string): string | null {
  if (KNOWN_TOOLS.includes(name) || /^mcp__\w/.test(name)) return null
  const near = nearestWord(name, KNOWN_TOOLS)
  return `unknown tool ${JSON.stringify(name)}; ${near ? `did you mean ${near}?` : `known: ${KNOWN_TOOLS.join(', ')} and mcp__…`}`
}
