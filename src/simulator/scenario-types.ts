/**
 * A scenario as the simulator runs it (`Scenario`), and as people write it in YAML or TypeScript (`ScenarioInput`).
 * `parseScenario` and `defineScenario` convert the second into the first.
 */

/** A text to find, or a regular expression. */
export type Pattern = { kind: 'text'; text: string } | { kind: 'regex'; regex: RegExp }

/**
 * What a request is for. Only `main` is the agent's own work; the others are requests that the CLI makes on the side.
 */
export const REQUEST_KINDS = ['main', 'compact', 'title', 'probe', 'side'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

export interface When {
  kind: RequestKind | 'any'
  user?: Pattern
  toolResult?: Pattern
  tool?: string
  model?: Pattern
  session?: string
  system?: Pattern
  contains: Pattern[]
  lacks: Pattern[]
}

export const STOP_REASONS = ['end_turn', 'max_tokens', 'stop_sequence', 'pause_turn', 'refusal'] as const
export type StopReason = (typeof STOP_REASONS)[number] | 'tool_use'

/** `times` limits how often a failure happens; after that the reply continues past it. */
export type Failure =
  | { do: 'error'; status: number; type: string; message: string; retryAfterSeconds?: number; times: number }
  | { do: 'cut'; times: number }
  | { do: 'overflow'; tokens?: number; limit?: number; times: number }
  | { do: 'rate-limit'; resetsInMs: number; claim: string; message: string; times: number }

export type Step =
  | { do: 'text'; text: string; paceMs: number }
  | { do: 'thinking'; thinking: string }
  | { do: 'tool'; name: string; input: Record<string, unknown> }
  | { do: 'wait'; waitMs: number }
  | { do: 'hold'; hold: string }
  | { do: 'stop'; reason: StopReason }
  | { do: 'await-results' }
  | Failure

export interface Rule {
  /** The `name` in the file, or `rule 3` by position. */
  name: string
  when: When
  times: number
  reply: Step[]
}

export interface Scenario {
  name: string
  rules: Rule[]
  /** In order; the first whose pattern matches the model name is used. */
  contextWindows: { model: Pattern; tokens: number }[]
  minCacheTokens: number
}

/** `500`, `'500ms'`, `'3s'`, `'2m'`, `'1h'`; a bare number is milliseconds. */
export type DurationInput = number | string
/** A text to find, or `/regex/flags`. */
export type PatternInput = string | RegExp

export interface WhenInput {
  kind?: RequestKind | 'any'
  user?: PatternInput
  toolResult?: PatternInput
  tool?: string
  model?: PatternInput
  session?: string
  system?: PatternInput
  contains?: PatternInput | PatternInput[]
  lacks?: PatternInput | PatternInput[]
}

export type StepInput =
  | string
  | { text: string; pace?: DurationInput }
  | { thinking: string }
  | { tool: string; input?: Record<string, unknown> }
  | { wait: DurationInput }
  | { hold: string }
  | { stop: Exclude<StopReason, 'tool_use'> }
  | { await: 'results' }
  | { error: { status: number; type?: string; message?: string; retryAfter?: number; times?: number } }
  | { cut: true | { times?: number } }
  | { overflow: true | { tokens?: number; limit?: number; times?: number } }
  | { rateLimit: { resetsIn: DurationInput; claim?: string; message?: string; times?: number } }

export interface RuleInput {
  name?: string
  when?: string | RegExp | WhenInput
  times?: number
  reply: string | StepInput[]
}

export interface ScenarioInput {
  name?: string
  models?: Record<string, { contextWindow: number }>
  cache?: { minTokens?: number }
  rules: RuleInput[]
}
