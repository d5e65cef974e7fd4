/**
 * Builds Claude Code's command line. Ids and values are written as one token (`--resume=<id>`), because in two-token
 * form a value that begins with a dash is parsed as a flag. The prompt is the first line on stdin.
 */
import type { AgentOptions, Plan, PlanInput, Probe, TierPlan } from '../adapter.ts'
import type { Message } from '../protocol.ts'
import { optionArgs, systemPromptOf } from './options.ts'
import { REMINDER_HOOKS } from './reminder.ts'
import { SCHEDULING_TOOLS } from './scheduling.ts'

const PERMISSION_MODE = {
  'ask-all': 'default',
  ask: 'default',
  edits: 'acceptEdits',
  allow: 'acceptEdits',
} as const

export function planClaude(input: PlanInput): Plan {
  const { runtime, decision, permissions, options = null } = input
  const args = [
    '-p',
    '--input-format=stream-json',
    '--output-format=stream-json',
    '--verbose',
    `--permission-mode=${options?.permissionMode ?? PERMISSION_MODE[permissions]}`,
  ]
  // Not in --help, but available since stream-json input exists; without it AskUserQuestion is not offered.
  if (runtime.capabilities.permissionPrompt && options?.asks !== false)
    args.push('--permission-prompt-tool=stdio')
  if (runtime.capabilities.partialMessages) args.push('--include-partial-messages')
  if (decision.kind === 'resume') args.push(`--resume=${input.agentSessionId}`)
  else if (runtime.capabilities.sessionId) args.push(`--session-id=${input.agentSessionId}`)
  if (input.model) args.push(`--model=${input.model}`)
  if (input.maxTurns !== null) args.push(`--max-turns=${input.maxTurns}`)
  if (input.maxBudgetUsd !== null && runtime.capabilities.budget)
    args.push(`--max-budget-usd=${input.maxBudgetUsd}`)
  const isSealed = input.gated || !input.directory.applies
  if (isSealed) args.push(...sealed(input, runtime))
  if (input.tier) args.push(...equipped(input.tier, runtime))
  if (options) args.push(...optionArgs(options))
  args.push(...input.extraArgs)

  const gated = permissions === 'ask-all' || input.gated ? '*' : SCHEDULING_TOOLS.join('|')
  const instructions = isSealed && input.tier === null ? input.directory.instructions : null
  const messages = [initialize(gated, systemPrompt(options, instructions))]
  if (input.prompt !== null) messages.push(userMessage(input.promptId, input.prompt))
  return { args, input: messages }
}

/**
 * Excludes hooks, commands, agents, skills, permissions and servers of the work directory, which would act without asking. The user's own
 * stay in force, except that a run with rules has no servers that its tier does not name. Instructions (CLAUDE.md) are excluded together
 * with the settings; as those of an additional directory they apply nevertheless, and the request is the same to the byte. A run at a tier goes without
 * them.
 */
function sealed({ gated, tier, directory }: PlanInput, { capabilities }: Probe): string[] {
  if (!capabilities.sealing) return []
  const wantsServers = !gated || (tier?.tools.some(isOfServer) ?? false)
  return [
    '--setting-sources=user',
    ...(wantsServers ? [] : ['--strict-mcp-config']),
    ...(tier === null ? [`--add-dir=${directory.workDir}`] : []),
  ]
}

/** Offers the model only the tier's tools. That it uses no others is checked at each call. */
function equipped({ tools, schema }: TierPlan, { capabilities }: Probe): string[] {
  const builtIn = tools.filter((tool) => !isOfServer(tool))
  return [
    ...(capabilities.toolChoice ? [`--tools=${builtIn.join(',')}`] : []),
    ...(schema && capabilities.structuredOutput ? [`--json-schema=${JSON.stringify(schema)}`] : []),
  ]
}

const isOfServer = (tool: string) => tool.startsWith('mcp__')

/**
 * The CLI keeps our uuid as the message's own, also in its transcript, and does not add a message with the same uuid to
 * a session twice. If there are several blocks, it recognises a command only in the last one, and keeps the others in
 * the history.
 */
export function userMessage(id: string, texts: readonly string[]): Message {
  const content = texts.length === 1 ? texts[0] : texts.map((text) => ({ type: 'text', text }))
  const line = { type: 'user', uuid: id, message: { role: 'user', content } }
  return { id: `prompt-${id}`, line: JSON.stringify(line) }
}

/** Makes the CLI ask before each of these tools, including those that it would allow by itself, and after a compaction. */
function initialize(matcher: string, systemPrompt: object): Message {
  const request = {
    subtype: 'initialize',
    ...systemPrompt,
    hooks: { PreToolUse: [{ matcher, hookCallbackIds: ['gate'] }], ...REMINDER_HOOKS },
  }
  return { id: 'initialize', line: controlRequest('reprise-initialize', request) }
}

/** A caller that replaces the system prompt decides about all of it. */
function systemPrompt(options: AgentOptions | null, instructions: string | null): object {
  const asked: { systemPrompt?: unknown; appendSystemPrompt?: string } = options
    ? systemPromptOf(options)
    : {}
  if (instructions === null || asked.systemPrompt !== undefined) return asked
  return { appendSystemPrompt: [asked.appendSystemPrompt, instructions].filter(Boolean).join('\n\n') }
}

export function controlRequest(requestId: string, request: object): string {
  return JSON.stringify({ type: 'control_request', request_id: requestId, request })
}
