/** Describes what a file of a work directory would make Claude Code do. Nothing here is a check: what counts is the content as a whole. */
import { basename, dirname } from 'node:path'
import type { Grant } from '../../contract/trust.ts'
import { isRecord } from './wire.ts'

export function grantsOf(file: string, text: string): Grant[] {
  const name = basename(file)
  if (name === '.mcp.json') return json(file, text, (value) => servers(file, value))
  const isSettings = basename(dirname(file)) === '.claude' && /^settings(\.local)?\.json$/.test(name)
  if (isSettings) return json(file, text, (value) => settings(file, value))
  const folder = /\/\.claude\/([^/]+)\//.exec(file)?.[1]
  const kind = folder === undefined ? undefined : FOLDERS[folder]
  if (kind === undefined) return [{ kind: 'file', file, text: 'a file that the agent may use' }]
  const commands = embedded(text).map((command) => ({
    kind: 'command' as const,
    file,
    text: `runs ${command}`,
  }))
  return name.endsWith('.md')
    ? [{ kind, file, text: summary(text) }, ...commands]
    : [{ kind: 'file', file, text: `belongs to ${folder}` }]
}

const FOLDERS: Readonly<Record<string, Grant['kind']>> = {
  agents: 'agent',
  commands: 'command',
  skills: 'skill',
}

function json(file: string, text: string, describe: (value: Record<string, unknown>) => Grant[]): Grant[] {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return describe(value)
  } catch {
    // Claude Code ignores such a file. It may be mended later, which is a change.
  }
  return [{ kind: 'file', file, text: 'is not valid JSON' }]
}

function settings(file: string, { hooks, permissions, ...others }: Record<string, unknown>): Grant[] {
  return [
    ...commandsIn(hooks).map(({ on, command }) => ({
      kind: 'hook' as const,
      file,
      text: `${on}: ${command}`,
    })),
    ...entries(permissions).flatMap(([key, value]) =>
      (Array.isArray(value) ? value : [value]).map((rule) => ({
        kind: 'permission' as const,
        file,
        text: `${key}: ${plain(rule)}`,
      })),
    ),
    ...Object.entries(others).map(([key, value]) => ({
      kind: 'setting' as const,
      file,
      text: `${key}: ${plain(value)}`,
    })),
  ]
}

function servers(file: string, { mcpServers }: Record<string, unknown>): Grant[] {
  return entries(mcpServers).map(([name, server]) => {
    const { command, args, url } = isRecord(server) ? server : {}
    const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => word !== undefined)
    return {
      kind: 'mcp-server' as const,
      file,
      text: `${name}: ${words.length > 0 ? words.map(plain).join(' ') : plain(url ?? server)}`,
    }
  })
}

/** Every hook, however deep it is: its event, and its command or whatever else it has. */
function commandsIn(hooks: unknown): { on: string; command: string }[] {
  return entries(hooks).flatMap(([on, groups]) =>
    (Array.isArray(groups) ? groups : [groups]).flatMap((group) => {
      const list = isRecord(group) && Array.isArray(group.hooks) ? group.hooks : [group]
      const matcher = isRecord(group) && typeof group.matcher === 'string' ? ` ${group.matcher}` : ''
      return list.map((hook) => ({
        on: on + matcher,
        command: plain(isRecord(hook) && typeof hook.command === 'string' ? hook.command : hook),
      }))
    }),
  )
}

/** Commands that are run before the text reaches the model. */
const embedded = (text: string) =>
  [...text.matchAll(/!`([^`\n]+)`/g)].map(([, command = '']) => command).concat(hooksOf(text))

/** Agents and skills may have hooks in their heading. */
const hooksOf = (text: string) =>
  /^---\n[\s\S]*?^hooks:/m.test(text)
    ? [...text.matchAll(/^\s*-?\s*command:\s*(.+)$/gm)].map(([, c = '']) => c)
    : []

const summary = (text: string) =>
  /^description:\s*(.+)$/m.exec(text)?.[1] ?? (text.trim().split('\n')[0] ?? '').slice(0, 200)

const entries = (value: unknown) => (isRecord(value) ? Object.entries(value) : [])

const MAX_CHARS = 2000

function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}… (${text.length} characters)` : text
}
