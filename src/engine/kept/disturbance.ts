/**
 * Finds out whether a waiting process can no longer be given a turn: another process has opened its session, the session
 * was changed, or the agent has begun to work by itself. Such a process is killed, because at its end the agent would
 * write to the session.
 */
import { stat } from 'node:fs/promises'
import type { AgentRegistry, ConfiguredAgent } from '../../agents/registry.ts'
import type { EventType } from '../../contract/events.ts'
import type { KeptProcess } from '../../store/runs/process-records.ts'
import { GONE, type Processes } from '../base/processes.ts'

export interface DisturbedDeps {
  agents: Pick<AgentRegistry, 'find'>
  processes: Pick<Processes, 'folderOf' | 'follow' | 'attemptOf'>
}

/** null: it may go on waiting. */
export async function findDisturbance(deps: DisturbedDeps, process: KeptProcess): Promise<string | null> {
  const { agentSessionId, workDir } = process.binding
  const agent = deps.agents.find(process.agent)
  if (!agent) return 'its agent is not configured any more'
  const holders = await agent.adapter.findHolders(agentSessionId, agent.env)
  const rival = holders.find(({ pid }) => deps.processes.attemptOf(pid) !== process.spool)
  if (rival) return `another process (pid ${rival.pid}) has opened the session`
  const bytes = await readTranscriptBytes(agent, agentSessionId, workDir)
  if (bytes !== process.kept.transcriptBytes) return 'its session was changed'
  return (await hasBegunTurn(deps, agent, process)) ? 'it began to work by itself' : null
}

/** null: there is no transcript. An agent that has ended its turn has written all of it. */
export async function readTranscriptBytes(
  { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
  agentSessionId: string,
  workDir: string,
): Promise<number | null> {
  const files = await adapter.locateSession(agentSessionId, env, workDir)
  const found = files && (await stat(files.transcript).catch(() => null))
  return found?.size ?? null
}

const WORKS: readonly EventType[] = ['session-start', 'model-request', 'model-call', 'turn-end', 'tool-start']

async function hasBegunTurn(
  { processes }: DisturbedDeps,
  { adapter: { output } }: ConfiguredAgent,
  { spool, kept }: KeptProcess,
): Promise<boolean> {
  if (output.stateful) return false
  const tail = processes.follow(processes.folderOf(spool), GONE, kept.spoolOffset)
  try {
    const said = (await tail.read())?.toString('utf8') ?? ''
    const events = said
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => output.parseLine(line))
    return events.some(({ type }) => WORKS.includes(type))
  } finally {
    await tail.close()
  }
}
