/** The turns of a copied session, as its history if it can no longer be resumed. Only the newest are kept in memory. */
import type { ConfiguredAgent } from '../../agents/registry.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import { roughChars } from '../../core/rough-chars.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'

const MAX_TURNS = 200
/** More than a new session is ever given. */
const MAX_CHARS = 8 << 20

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
  const file = { agentSessionId, path: transcript, bytes: 0, modifiedAt: new Date(0) }
  const recent: { turn: OutsideTurn; chars: number }[] = []
  let chars = 0
  for await (const turn of adapter.existing.readTurns(file)) {
    if (!turn.inSession) continue
    const size = roughChars([turn.text, turn.answer])
    recent.push({ turn, chars: size })
    chars += size
    while (recent.length > 1 && (recent.length > MAX_TURNS || chars > MAX_CHARS)) {
      chars -= recent.shift()?.chars ?? 0
    }
  }
  return recent.map(({ turn }) => turn)
}
