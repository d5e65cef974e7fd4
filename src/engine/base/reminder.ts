/** Reads what a session must be told again after it was compacted, from the purpose of the run that uses it. */
import type { AgentRegistry } from '../../agents/registry.ts'
import type { AddedTexts } from '../../core/prompt/added-texts.ts'
import { composeSaid } from '../../core/prompt/said.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Purposes } from './purposes.ts'

export interface ForgottenDeps {
  agents: Pick<AgentRegistry, 'runtime'>
  purposes: Pick<Purposes, 'of'>
  store: Pick<Store, 'listRunMessages'>
}

export interface Forgotten {
  texts: AddedTexts
  /** The task, and the message that the agent received last. They are the same unless that was a follow-up. */
  task: string
  prompt: string
  /** The messages that were sent to the agent while it worked on the task. */
  said: string[]
}

/** `taken`: the ids of messages that the agent has taken although that is not stored yet. */
export async function readForgotten(
  { agents, purposes, store }: ForgottenDeps,
  run: RunRecord,
  agentSessionId: string,
  taken: ReadonlySet<string> = new Set(),
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
  const said = await readSaid(store, context.sameTask, taken)
  return { texts, task: context.task ?? run.prompt, prompt: context.run.prompt, said }
}

/** The messages that agents have read in these runs, oldest first, each with its sender. */
export async function readSaid(
  store: ForgottenDeps['store'],
  runs: readonly Pick<RunRecord, 'id'>[],
  taken: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const messages = await Promise.all(runs.map(({ id }) => store.listRunMessages(id)))
  return messages
    .flat()
    .filter(({ id, state }) => state === 'read' || taken.has(id))
    .map(composeSaid)
}
