/** Who has a session open: each live process keeps a `<config dir>/sessions/<pid>.json`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Env } from '../adapter.ts'
import { configDirOf } from './config-dir.ts'
import { isRecord } from './wire.ts'

/** The pid of a live process that has registered itself for the session. The record outlives a killed process. */
export async function findClaudeHolder(sessionId: string, env: Env): Promise<number | null> {
  const dir = join(configDirOf(env), 'sessions')
  for (const name of await readdir(dir).catch(() => [])) {
    if (!name.endsWith('.json')) continue
    const record = await readFile(join(dir, name), 'utf8')
      .then(JSON.parse)
      .catch(() => null)
    if (!isRecord(record) || record.sessionId !== sessionId || typeof record.pid !== 'number') continue
    if (await isSameProcess(record.pid, record.procStart)) return record.pid
  }
  return null
}

async function isSameProcess(pid: number, procStart: unknown): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return false
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie writes nothing any more, and where nobody reaps it, it stays for good.
  return fields[0] !== 'Z' && (typeof procStart !== 'string' || procStart === fields[19])
}
