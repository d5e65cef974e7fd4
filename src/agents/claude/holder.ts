/** Finds which processes have a session open: each live process keeps a `<config dir>/sessions/<pid>.json`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Env } from '../adapter.ts'
import type { SessionHolder } from '../session-files.ts'
import { configDirOf } from './config-dir.ts'
import { isRecord } from './wire.ts'

/** The live processes that have registered for the session. The file remains after a process was killed. */
export async function findClaudeHolders(agentSessionId: string, env: Env): Promise<SessionHolder[]> {
  const dir = join(configDirOf(env), 'sessions')
  const holders: SessionHolder[] = []
  for (const name of await readdir(dir).catch(() => [])) {
    if (!name.endsWith('.json')) continue
    const record = await readFile(join(dir, name), 'utf8')
      .then(JSON.parse)
      .catch(() => null)
    if (!isRecord(record) || record.sessionId !== agentSessionId || typeof record.pid !== 'number') continue
    const startTicks = await readStart(record.pid)
    if (startTicks === null) continue
    // The pid may belong to another process now.
    if (typeof record.procStart === 'string' && record.procStart !== startTicks) continue
    holders.push({ pid: record.pid, startTicks: Number(startTicks) })
  }
  return holders
}

/** null: the process does not exist, or is a zombie, which no longer writes and may remain if nobody reaps it. */
async function readStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? null : (fields[19] ?? null)
}
