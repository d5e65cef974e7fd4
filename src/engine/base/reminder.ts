/** Reads what a session must be told again after it was compacted, from the purpose of the run that uses it. */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { AddedTexts } from '../../core/prompt/added-texts.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Purposes } from './purposes.ts'

export interface ForgottenDeps {
  agents: Pick<AgentRegistry, 'runtime'>
  purposes: Pick<Purposes, 'of'>
}

export interface Forgotten {
  texts: AddedTexts
  /** The task, and the message that the agent received last. They are the same unless that was a follow-up. */
  task: string
  prompt: string
}

export async function readForgotten(
  { agents, purposes }: ForgottenDeps,
  run: RunRecord,
  agentSessionId: string,
): Promise<Forgotten> {
  // The agent may have been removed from the configuration although its process still runs. The text then asks for the
  // report, which works with every agent.
  const runtime = await agents.runtime(run.agent).catch(() => null)
  const context = await purposes.of(run).readContext(run)
  const { texts } = await context.readBrief({
    decision: { kind: 'resume', agentSessionId, carry: 'none' },
    standing: 'compacted',
    structuredOutput: runtime?.capabilities.structuredOutput ?? false,
  })
  return { texts, task: context.task ?? run.prompt, prompt: context.run.prompt }
}
