/** Inspects a session's transcript before it is resumed. Only reads. */
import { stat } from 'node:fs/promises'
import { throwIfLacking } from '../../files/lacking.ts'
import type { Env } from '../adapter.ts'
import type { TranscriptFacts, TranscriptQuery } from '../session-files.ts'
import { locateClaudeSession } from './locate.ts'
import { scanTranscript, type TranscriptScan } from './transcript-scan.ts'

const MISSING: TranscriptFacts = {
  state: 'missing',
  path: null,
  bytes: null,
  hasMessage: false,
  outside: [],
}

export async function inspectClaudeTranscript(
  agentSessionId: string,
  env: Env,
  { workDir, messageId = null, answeredId = null, ownIds = null, knownIds = null }: TranscriptQuery,
): Promise<TranscriptFacts> {
  const path = (await locateClaudeSession(agentSessionId, env, workDir))?.transcript
  if (path === undefined) return MISSING
  try {
    const { size: bytes } = await stat(path)
    const scan = await scanTranscript(path, { agentSessionId, messageId, answeredId, ownIds, knownIds })
    const { hasMessage, outside } = scan
    return { state: stateOf(scan, answeredId), path, bytes, hasMessage, outside }
  } catch (error) {
    throwIfLacking(error)
    return { ...MISSING, state: 'unreadable', path }
  }
}

/**
 * The CLI itself reports only a transcript without any message. A file of another session, an older copy, one with a
 * gap and one whose history has branched off are resumed without a warning, and the model lacks what is missing.
 */
function stateOf(scan: TranscriptScan, answeredId: string | null): TranscriptFacts['state'] {
  if (!scan.hasTurn) return 'unreadable'
  if (scan.foreign) return 'foreign'
  if (answeredId !== null && !scan.hasAnswer) return 'behind'
  if (scan.broken) return 'broken'
  if (scan.forked) return 'forked'
  return scan.torn ? 'torn' : 'present'
}
