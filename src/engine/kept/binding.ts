/** Reads what a process for a run would be started with, so that it can be kept, or given to a process that is. */
import { createHash } from 'node:crypto'
import type { PlanInput, Runtime } from '../../agents/adapter.ts'
import type { ConfiguredAgent } from '../../agents/registry.ts'
import type { SandboxName } from '../../contract/sandbox.ts'
import type { Binding } from '../../core/kept/binding.ts'
import type { Place } from '../../core/resume/place.ts'

export interface BindingInput {
  agent: ConfiguredAgent
  runtime: Runtime
  place: Place
  planInput: PlanInput
  sandbox: SandboxName
  now: Date
}

/**
 * null: the process must end with its turn. That is so for runs that are held to rules or in a sandbox, whose gate,
 * broker and folders belong to one run, and for runs with limits that the agent counts for the whole process.
 */
export async function readBinding(input: BindingInput): Promise<Binding | null> {
  const { agent, runtime, place, planInput, sandbox, now } = input
  const { waiting } = agent.adapter
  const { gated, tier, maxTurns, maxBudgetUsd, agentSessionId } = planInput
  const isLimited = maxTurns !== null || maxBudgetUsd !== null
  if (waiting === null || gated || tier !== null || isLimited || sandbox !== 'none') return null
  const decision = { kind: 'resume', agentSessionId, carry: 'none' } as const
  const { args, input: messages } = agent.adapter.plan({ ...planInput, decision, prompt: null, promptId: '' })
  return {
    agent: agent.name,
    agentSessionId,
    runtimeId: runtime.runtimeId,
    version: runtime.version,
    ...place,
    model: planInput.model,
    permissions: planInput.permissions,
    sandbox,
    args: hashOf([args, messages]),
    env: hashOf(Object.entries(agent.env).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    files: await waiting.readStartFiles(agent.env, place.workDir),
    day: now.toDateString(),
  }
}

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex')
