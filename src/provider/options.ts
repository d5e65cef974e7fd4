/** The options of a query, checked at the edge: a wrong one is reported with its name and what was expected. */
import { resolve } from 'node:path'
import { z } from 'zod'
import type { AgentOptions } from '../agents/adapter.ts'
import type { CreateRun } from '../contract/create-run.ts'
import { ModelName } from '../contract/create-run.ts'
import { RepriseError } from '../contract/errors.ts'
import type { HistoryMessage } from '../contract/query.ts'
import type { CanUseTool } from './asks.ts'
import { type HistoryInput, readHistory } from './history-input.ts'

const PERMISSION_MODES = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk', 'auto'] as const

/** 24 days, the longest time that a timer supports. */
const MAX_TIMEOUT_MS = 24 * 86_400_000

/** As in the Agent SDK: a text replaces the agent's own system prompt, the preset keeps it. */
export type SystemPrompt =
  | string
  | string[]
  | { type: 'custom'; prompt: string | string[] }
  | { type: 'preset'; preset: 'claude_code'; append?: string | undefined }

export interface ExecuteOptions {
  prompt: string
  /** The work directory; default: that of this process. */
  cwd?: string | undefined
  model?: string | undefined
  /** Resumed only if there is a history too; see `conversationHistory`. */
  sdkSessionId?: string | undefined
  /**
   * The messages so far. If the session cannot be resumed, a new one is given this history. Accepts messages of this
   * library, of the vendor's API and of the Agent SDK.
   */
  conversationHistory?: readonly HistoryInput[] | undefined
  maxTurns?: number | undefined
  maxBudgetUsd?: number | undefined
  systemPrompt?: SystemPrompt | undefined
  allowedTools?: readonly string[] | undefined
  disallowedTools?: readonly string[] | undefined
  permissionMode?: (typeof PERMISSION_MODES)[number] | undefined
  /** Accepted for code that was written for the Agent SDK; `permissionMode` decides. */
  allowDangerouslySkipPermissions?: boolean | undefined
  canUseTool?: CanUseTool | undefined
  /** Variables in addition to those of the agent; undefined removes one. */
  env?: Readonly<Record<string, string | undefined>> | undefined
  abortSignal?: AbortSignal | undefined
  includePartialMessages?: boolean | undefined
  /** The query is stopped after this time. Default: it is not. */
  timeoutMs?: number | undefined
}

const texts = z.array(z.string())
const Schema = z.strictObject({
  prompt: z.string().refine((text) => text.trim() !== '', { error: 'expected a prompt that is not empty' }),
  cwd: z.string().optional(),
  model: ModelName.optional(),
  sdkSessionId: z.string().min(1).max(256).optional(),
  conversationHistory: z.array(z.unknown()).optional(),
  maxTurns: z.number().int().min(1).max(10_000).optional(),
  maxBudgetUsd: z.number().positive().optional(),
  systemPrompt: z
    .union([
      z.string(),
      texts,
      z.strictObject({ type: z.literal('custom'), prompt: z.union([z.string(), texts]) }),
      z.strictObject({
        type: z.literal('preset'),
        preset: z.literal('claude_code'),
        append: z.string().optional(),
      }),
    ])
    .optional(),
  allowedTools: texts.optional(),
  disallowedTools: texts.optional(),
  permissionMode: z.enum(PERMISSION_MODES).optional(),
  allowDangerouslySkipPermissions: z.boolean().optional(),
  canUseTool: z
    .custom<CanUseTool>((value) => typeof value === 'function', { error: 'expected a function' })
    .optional(),
  env: z.record(z.string(), z.string().optional()).optional(),
  abortSignal: z
    .custom<AbortSignal>((value) => value instanceof AbortSignal, { error: 'expected an AbortSignal' })
    .optional(),
  includePartialMessages: z.boolean().optional(),
  timeoutMs: z.number().int().min(1000).max(MAX_TIMEOUT_MS).optional(),
})

export interface CheckedOptions {
  request: Omit<CreateRun, 'agent' | 'sessionId'>
  /** null: the conditions for a resume are not met. */
  resume: string | null
  history: HistoryMessage[]
  agent: AgentOptions
  variables: Readonly<Record<string, string | undefined>>
  canUseTool: CanUseTool | null
  abortSignal: AbortSignal | null
  partial: boolean
}

export function checkOptions(given: ExecuteOptions): CheckedOptions {
  const parsed = Schema.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'options'}: ${message}`,
    )
    throw new RepriseError('bad-request', problems.join('; '), {
      hint: 'See docs/provider.md for the options.',
    })
  }
  const asked = parsed.data
  const history = readHistory(asked.conversationHistory ?? [])
  const { bypass, mode } = permissionsOf(asked)
  return {
    request: {
      prompt: asked.prompt,
      workDir: resolve(asked.cwd ?? '.'),
      ...(asked.model === undefined ? {} : { model: asked.model }),
      ...(asked.maxTurns === undefined ? {} : { maxTurns: asked.maxTurns }),
      ...(asked.maxBudgetUsd === undefined ? {} : { maxBudgetUsd: asked.maxBudgetUsd }),
      permissions: bypass ? 'allow' : 'ask',
      maxDurationMs: asked.timeoutMs ?? MAX_TIMEOUT_MS,
    },
    resume: asked.sdkSessionId !== undefined && history.length > 0 ? asked.sdkSessionId : null,
    history,
    agent: {
      systemPrompt: systemPromptOf(asked.systemPrompt),
      allowedTools: asked.allowedTools ?? [],
      deniedTools: asked.disallowedTools ?? [],
      permissionMode: mode,
      asks: bypass || asked.canUseTool !== undefined,
    },
    variables: asked.env ?? {},
    canUseTool: asked.canUseTool ?? null,
    abortSignal: asked.abortSignal ?? null,
    partial: asked.includePartialMessages ?? false,
  }
}

/**
 * The agent refuses to skip permissions as root outside a sandbox. There Reprise answers its requests instead, with the
 * same effect.
 */
function permissionsOf({ permissionMode, env }: z.infer<typeof Schema>): { bypass: boolean; mode: string } {
  const isRefused = process.getuid?.() === 0 && env?.IS_SANDBOX !== '1'
  if (permissionMode === 'bypassPermissions' && isRefused) return { bypass: true, mode: 'acceptEdits' }
  return { bypass: false, mode: permissionMode ?? 'default' }
}

function systemPromptOf(given: SystemPrompt | undefined): AgentOptions['systemPrompt'] {
  if (given === undefined) return null
  if (typeof given === 'string' || Array.isArray(given)) return { texts: [given].flat(), append: false }
  if (given.type === 'custom') return { texts: [given.prompt].flat(), append: false }
  return { texts: given.append === undefined ? [] : [given.append], append: true }
}
