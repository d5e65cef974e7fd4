/**
 * Decides about an agent's tool calls. An agent at a tier, or in a dry run, asks before each call. The answer depends
 * on the rules alone, so it can be given before anything is stored, and another daemon gives the same answer after a
 * crash. Only counted actions (cooldowns) are stored first.
 *
 * Invariant: if anything fails here, the call is not made (I8).
 */
import { homedir } from 'node:os'
import type { Env, ToolAnswer } from '../../agents/adapter.ts'
import { aboutTool } from '../../contract/about-tool.ts'
import type { EventOf } from '../../contract/events.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import { type CallDecision, type CallFacts, showCall } from '../../core/rules/call.ts'
import type { Action } from '../../core/rules/cooldown.ts'
import { judgeCall } from '../../core/rules/judge.ts'
import { checkTool } from '../../core/shell/check-tool.ts'
import { compileToolRules, type Enforcement, type ToolRules } from '../../core/shell/tool-rules.ts'
import type { Remotes } from '../../process/broker/remotes.ts'
import { realPath } from '../../process/real-path.ts'
import type { SandboxRoles } from '../../process/sandbox/roles.ts'
import { OwnershipLost } from '../../store/base/errors.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Log } from '../base/log.ts'
import { Detached } from '../base/persist.ts'
import { withPolicy } from '../base/policy.ts'
import type { EscalationSettings } from '../base/settings.ts'
import { gatherFacts, readText } from './call-facts.ts'
import type { Cooldowns } from './cooldowns.ts'
import type { GateRules } from './gated.ts'

export interface GateDeps {
  cooldowns: Pick<Cooldowns, 'claim'>
  log: Log
  /** Paths that no agent at a tier may change, whatever its rules say. */
  protectedPaths: readonly string[]
  /** Paths that no agent at a tier may read, besides credentials and sockets. */
  hiddenPaths: readonly string[]
  settings: GateRules & { escalation: Pick<EscalationSettings, 'rules'>; brokered: readonly string[] }
}

export interface GateInput {
  run: RunRecord
  attempt: AttemptRecord
  /** The tier whose rules apply; null if only the rule of a dry run applies. */
  rules: Tier | null
  /** The agent's environment, which names its home. */
  env: Env
  /** The agent's own configuration files, which no agent at a tier may change. */
  files: readonly string[]
  /** Whether a sandbox holds the rules, or the check of the text is all there is. */
  enforcement: Enforcement
}

export interface GateAnswer {
  answer: ToolAnswer
  /** Set if the call was refused; to be stored with the question. */
  refusal: EventOf<'refusal'> | null
}

/** A call of a program that acts on the world, as a shim described it. */
export interface ProgramCall {
  /** A repeated call with the same id is the same call. */
  id: string
  program: string
  args: readonly string[]
  /** As seen in the sandbox. */
  cwd: string
}

/** What the sandbox of the caller says about paths. */
export type CallPlace = SandboxRoles

export type CallAnswer =
  | { refusal: EventOf<'refusal'>; start: null }
  | { refusal: null; start: Extract<CallDecision, { decision: 'allow' }> }

export class Gate {
  readonly #deps: GateDeps
  readonly #isRuled: boolean
  readonly #run: RunRecord
  readonly #attempt: AttemptRecord
  readonly #rules: ToolRules
  readonly #facts: CallFacts

  constructor(deps: GateDeps, { run, attempt, rules: tier, env, files, enforcement }: GateInput) {
    this.#deps = deps
    this.#run = run
    this.#attempt = attempt
    this.#isRuled = tier !== null
    const rules = withPolicy(deps.settings.escalation.rules, run)
    const named = tier ? { ...tier, name: `${tier.number} (${tier.name})` } : undefined
    const alwaysProtected = [...deps.protectedPaths, ...files]
    const home = env.HOME || homedir()
    this.#rules = compileToolRules(tier ? { ...rules, alwaysProtected } : NO_RULES, named, {
      home,
      enforcement,
      brokered: deps.settings.brokered,
    })
    const { protectedPaths } = this.#rules
    this.#facts = gatherFacts({ home, workDir: run.workDir, hiddenPaths: deps.hiddenPaths, protectedPaths })
  }

  async decide(ask: EventOf<'permission-ask'>): Promise<GateAnswer> {
    const { tool, toolUseId, input } = ask
    let what = ''
    try {
      what = aboutTool(ask)
      const cwd = ask.workDir ?? this.#run.workDir
      const dryRun = this.#run.request.dryRun === true || this.#deps.settings.dryRun
      const call = { tool, input, cwd, described: ask }
      const decision = checkTool(call, this.#rules, this.#facts, { dryRun })
      if (decision.decision === 'deny') return refused({ toolUseId, tool, what }, decision)
      const held = await this.#claim(decision.actions, toolUseId)
      if (held) return refused({ toolUseId, tool, what }, held)
      const answer = !this.#isRuled ? PASS : ({ decision: 'allow' } as const)
      return { answer, refusal: null }
    } catch (error) {
      return refused({ toolUseId, tool, what }, this.#unsure(error))
    }
  }

  /** Called by the broker when a program is to be started, whichever process in the sandbox starts it. */
  async decideCall(
    { id, program, args, cwd }: ProgramCall,
    place: CallPlace,
    remotes: Remotes | null,
  ): Promise<CallAnswer> {
    const what = showCall({ program, args })
    try {
      const dryRun = this.#run.request.dryRun === true || this.#deps.settings.dryRun
      const isHidden = (path: string) => this.#facts.isHidden(path) || place.isHidden(path)
      const facts: CallFacts = {
        ...this.#facts,
        agentCanWrite: place.canWrite,
        isHidden,
        readFile: (path) => readText(path, isHidden),
        remotes: new Map(Object.entries(remotes?.addresses ?? {})),
      }
      const call = { program, args, cwd: realPath(place.toHost(cwd)) }
      const decision = judgeCall(call, { ...this.#rules.calls, dryRun }, facts)
      if (decision.decision === 'deny') return { ...refused({ tool: program, what }, decision), start: null }
      const held = await this.#claim(decision.actions, id)
      if (held) return { ...refused({ tool: program, what }, held), start: null }
      return { refusal: null, start: decision }
    } catch (error) {
      return { ...refused({ tool: program, what }, this.#unsure(error)), start: null }
    }
  }

  async #claim(actions: readonly Action[], callId: string): Promise<{ reason: string; rule: string } | null> {
    if (actions.length === 0) return null
    const { id: attemptId, runId } = this.#attempt
    return this.#deps.cooldowns.claim({ attemptId, runId, callId, actions })
  }

  #unsure(error: unknown) {
    // This daemon is closing or has lost the attempt: the question waits for the next daemon.
    if (error instanceof Detached || error instanceof OwnershipLost) throw error
    this.#deps.log.error(
      { run: this.#run.id, error: String((error as Error)?.stack ?? error) },
      'could not check a call',
    )
    return {
      reason: 'Reprise could not check this call, so it is not made. Try again later.',
      rule: 'unchecked',
    }
  }
}

const PASS = { decision: 'pass' } as const
/** Used for a dry run without a tier, to which only the rule of dry runs applies. */
const NO_RULES = { never: [], protectedPaths: [] }

function refused(
  call: { toolUseId?: string; tool: string; what: string },
  { reason, rule, dryRun }: { reason: string; rule?: string | undefined; dryRun?: boolean | undefined },
): { answer: ToolAnswer; refusal: EventOf<'refusal'> } {
  return {
    answer: { decision: 'deny', message: reason },
    refusal: {
      type: 'refusal',
      ...call,
      ...(rule === undefined ? {} : { rule }),
      reason,
      ...(dryRun ? { dryRun } : {}),
    },
  }
}
