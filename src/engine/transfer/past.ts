/** The turns of a copied session, as its history if it can no longer be resumed. */
import type { ConfiguredAgent } from '../../agents/registry.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'

/** More than a new session is ever given. */
const LIMITS = { turns: 200, chars: 8 << 20 }

/** Oldest first. Leaves out the oldest if there are too many; a copy still has them in its transcript. */
export async function readRecentTurns(
  { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
  { agentSessionId, workDir }: Pick<SessionRecord, 'agentSessionId' | 'workDir'>,
  transcript: string,
): Promise<OutsideTurn[]> {
  if (adapter.existing === null) {
    const query = { workDir, ownIds: new Set<string>() }
    return [...(await adapter.inspectTranscript(agentSessionId, env, query)).outside]
  }
  const turns: OutsideTurn[] = []
  for await (const turn of adapter.existing.readTurns({ path: transcript }, LIMITS)) turns.push(turn)
  return turns
}
