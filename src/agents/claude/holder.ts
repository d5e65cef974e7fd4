/**
 * Finds which processes have a session open. Each live process keeps a `<config dir>/sessions/<pid>.json`. One in a sandbox
 * keeps it in the private folder of its session, with the pid that it has in its pid namespace.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessLacking } from '../../files/lacking.ts'
import { readUntrusted } from '../../files/untrusted.ts'
import type { Env } from '../adapter.ts'
import type { SessionHolder } from '../session-files.ts'
import { configDirOf } from './config-dir.ts'
import { SANDBOXES } from './locate.ts'
import { isRecord } from './wire.ts'

const MAX_RECORD_BYTES = 64 << 10

interface LiveRecord {
  pid: number
  /** In clock ticks since boot; older versions of the CLI do not write it. */
  procStart: string | null
}

/** The live processes that have registered for the session. The file remains after a process was killed. */
export async function findClaudeHolders(agentSessionId: string, env: Env): Promise<SessionHolder[]> {
  const config = configDirOf(env)
  const outside = await readRecords(join(config, 'sessions'), agentSessionId)
  const inside = await readRecords(join(config, SANDBOXES, agentSessionId, 'sessions'), agentSessionId)
  const found = await Promise.all(outside.map(({ pid, procStart }) => findProcess(pid, procStart)))
  return [...found.filter((holder) => holder !== null), ...(await findInSandboxes(inside))]
}

async function readRecords(dir: string, agentSessionId: string): Promise<LiveRecord[]> {
  const records: LiveRecord[] = []
  for (const name of await readdir(dir).catch(unlessLacking([]))) {
    const record = name.endsWith('.json') && parse(await readUntrusted(join(dir, name), MAX_RECORD_BYTES))
    if (!isRecord(record) || record.sessionId !== agentSessionId || typeof record.pid !== 'number') continue
    records.push({
      pid: record.pid,
      procStart: typeof record.procStart === 'string' ? record.procStart : null,
    })
  }
  return records
}

/** null: the pid belongs to no process, or to another one by now. */
async function findProcess(pid: number, procStart: string | null): Promise<SessionHolder | null> {
  const startTicks = await readStart(pid)
  if (startTicks === null || (procStart !== null && procStart !== startTicks)) return null
  return (await isEnding(pid)) ? null : { pid, startTicks: Number(startTicks) }
}

/** The start of a process is the same in all namespaces; its pid is searched for among those that have several. */
async function findInSandboxes(records: readonly LiveRecord[]): Promise<SessionHolder[]> {
  const sought = records.filter(({ procStart }) => procStart !== null)
  if (sought.length === 0) return []
  const holders: SessionHolder[] = []
  // One after the other: looking at all processes at once would use up the descriptors.
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const pid = Number(name)
    const startTicks = await readStart(pid)
    const same = sought.filter(({ procStart }) => procStart === startTicks)
    if (startTicks === null || same.length === 0) continue
    const innerPid = await readInnerPid(pid)
    if (same.some((record) => record.pid === innerPid)) holders.push({ pid, startTicks: Number(startTicks) })
  }
  return holders
}

/** null: the process does not exist, or is a zombie, which no longer writes and may remain if nobody reaps it. */
async function readStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(unlessLacking(null))
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? null : (fields[19] ?? null)
}

/**
 * A process that was killed has no memory any more, and so no command line, before it is a zombie. It writes nothing, and
 * what it was started with cannot be read.
 */
async function isEnding(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(unlessLacking(null))) === ''
}

/** The pid in the innermost pid namespace. null: the process is in ours. */
async function readInnerPid(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(unlessLacking(''))
  const [, ...inner] = /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? []
  return inner.length === 0 ? null : Number(inner.at(-1))
}

function parse(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}
