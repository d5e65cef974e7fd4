/** Who has a session open: each live process keeps a `<config dir>/sessions/<pid>.json`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Env } from '../adapter.ts'
import type { SessionHolder } from '../session-files.ts'
import { configDirOf } from './config-dir.ts'
import { isRecord } from './wire.ts'

/** The live processes that have registered themselves for the session. The record outlives a killed process. */
export async function findClaudeHolders(sessionId: string, env: Env): Promise<SessionHolder[]> {
  const dir = join(configDirOf(env), 'sessions')
  const holders: SessionHolder[] = []
  for (const name of await readdir(dir).catch(() => [])) {
    if (!name.endsWith('.json')) continue
    const record = await readFile(join(dir, name), 'utf8')
      .then(JSON.parse)
      .catch(() => null)
    if (!isRecord(record) || record.sessionId !== sessionId || typeof record.pid !== 'number') continue
    const startTicks = await readStart(record.pid)
    if (startTicks === null) continue
    // Another process may have got the pid since.
    if (typeof record.procStart === 'string' && record.procStart !== startTicks) continue
    holders.push({ pid: record.pid, startTicks: Number(startTicks) })
  }
  return holders
}

/** null: no such process, or a zombie, which writes nothing any more and stays for good where nobody reaps it. */
async function readStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? null : (fields[19] ?? null)
}
