/**
 * Measures what a large session costs to export and to import, and whether the daemon's memory grows with its size. The
 * baseline is the work that cannot be avoided: compressing the transcript, or decompressing it onto the disk.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, openAsBlob, readFileSync, writeFileSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { ForkedSession, ImportedSession } from '../../src/contract/session-transfer.ts'
import { writeBundle } from '../../src/engine/transfer/write-bundle.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'

const LARGE_MB = 50
const SMALL_MB = 5
const HUGE_MB = 200
const MAX_MS = 45_000

export const transfer: Benchmark = {
  name: 'transfer',
  about: `A session of ${LARGE_MB} MB: exported over HTTP ÷ gzip of its transcript; imported ÷ gunzip of it onto the disk, flushed; forked ÷ a flushed copy. The peak of the daemon's memory (VmHWM) with ${LARGE_MB} MB − with ${SMALL_MB} MB, and with ${HUGE_MB} MB.`,
  run: async ({ short }) => {
    const world = await World.create({ name: 'transfer', rules: [{ reply: 'unused' }] })
    try {
      await world.startDaemon()
      const [largeMb, smallMb] = short ? [2, 1] : [LARGE_MB, SMALL_MB]
      const large = await prepare(world, largeMb)
      const small = await prepare(world, smallMb)
      const pairs = short ? 1 : 5
      const peaks: Record<string, number[]> = {}
      const watched = (name: string, work: () => Promise<unknown>) => async () => {
        resetPeak(world.daemonPid)
        const ms = await timeMs(work)
        peaks[name] = [...(peaks[name] ?? []), peakMb(world.daemonPid)]
        return ms
      }
      const times = await interleave(
        {
          gzip: () => timeMs(() => pipeline(createReadStream(large.transcript), createGzip(), sink)),
          export: watched('export', () => exportOf(world, large.session)),
          gunzip: () => timeMs(() => unpack(world, large.packed)),
          import: watched('import', () => importOf(world, large.file)),
          copy: () => timeMs(() => copy(world, large.transcript)),
          fork: watched('fork', () =>
            world.api<ForkedSession>('POST', `/api/sessions/${large.session}/fork`),
          ),
          smallExport: watched('smallExport', () => exportOf(world, small.session)),
          smallImport: watched('smallImport', () => importOf(world, small.file)),
        },
        pairs,
        { maxMs: MAX_MS },
      )
      const hugeMb = short ? 4 : HUGE_MB
      const huge = await prepare(world, hugeMb)
      await watched('huge', () => importOf(world, huge.file))()
      const more = (a: string, b: string) =>
        (peaks[a] ?? []).slice(1).map((mb, index) => mb - (peaks[b]?.[index + 1] ?? Number.NaN))
      return [
        figure('export ÷ gzip', '×', ratios(times.export, times.gzip)),
        figure('import ÷ gunzip and flush', '×', ratios(times.import, times.gunzip)),
        figure('fork ÷ copy and flush', '×', ratios(times.fork, times.copy)),
        figure(`export, ${largeMb} MB`, 'ms', times.export),
        figure(`import, ${largeMb} MB`, 'ms', times.import),
        figure(`fork, ${largeMb} MB`, 'ms', times.fork),
        figure(`export, ${smallMb} MB`, 'ms', times.smallExport),
        figure(`import, ${smallMb} MB`, 'ms', times.smallImport),
        figure(`peak of an export, ${largeMb} MB − ${smallMb} MB`, 'MB', more('export', 'smallExport')),
        figure(`peak of an import, ${largeMb} MB − ${smallMb} MB`, 'MB', more('import', 'smallImport')),
        figure(`peak of the daemon, import of ${smallMb} MB`, 'MB', (peaks.smallImport ?? []).slice(1)),
        figure(`peak of the daemon, import of ${largeMb} MB`, 'MB', (peaks.import ?? []).slice(1)),
        figure(`peak of the daemon, import of ${hugeMb} MB`, 'MB', peaks.huge ?? []),
      ]
    } finally {
      await world.close()
    }
  },
}

interface Prepared {
  session: string
  /** The transcript, the same compressed, and the export of the session. */
  transcript: string
  packed: string
  file: string
}

async function prepare(world: World, megabytes: number): Promise<Prepared> {
  const at = (name: string) => join(world.dir, `${megabytes}-${name}`)
  const [transcript, packed, file] = [at('transcript'), at('packed'), at('export')]
  const agentSessionId = randomUUID()
  writeFileSync(transcript, makeTranscript(agentSessionId, megabytes << 20))
  const now = new Date().toISOString()
  const bundle = writeBundle({
    header: {
      reprise: 'session',
      format: 1,
      createdAt: now,
      redacted: false,
      adapter: 'claude',
      session: {
        agentSessionId,
        agent: 'claude',
        workDir: world.workDir,
        version: null,
        can: [],
        told: null,
        compacted: false,
        turns: 1,
        contextTokens: null,
        contextWindow: null,
        costUsd: 0,
        createdAt: now,
        lastUsedAt: now,
      },
      conversation: null,
    },
    files: { transcript, folder: null },
    transcriptBytes: (await stat(transcript)).size,
    messages: [],
    redaction: null,
  })
  await pipeline(bundle, createWriteStream(file))
  await pipeline(createReadStream(transcript), createGzip(), createWriteStream(packed))
  return { session: (await importOf(world, file)).session, transcript, packed, file }
}

/** Turns of a few messages with tool results of some kilobytes, as in a session of work on code. */
function makeTranscript(sessionId: string, bytes: number): Buffer {
  const words = readFileSync(import.meta.filename, 'utf8').split(/\s+/)
  const lines: string[] = []
  let parentUuid: string | null = null
  for (let size = 0, n = 0; size < bytes; n++) {
    const uuid = randomUUID()
    const text = Array.from({ length: 600 }, (_, i) => words[(i * (n % 89) + n * 31) % words.length]).join(
      ' ',
    )
    const isQuestion = n % 40 === 0
    const message = isQuestion
      ? { role: 'user', content: `Question ${n}` }
      : n % 2 === 0
        ? { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${n - 1}`, content: text }] }
        : {
            role: 'assistant',
            model: 'm',
            content: [
              { type: 'tool_use', id: `toolu_${n}`, name: 'Bash', input: { command: 'ls' } },
              { type: 'text', text },
            ],
          }
    const record = {
      parentUuid,
      isSidechain: false,
      type: message.role,
      message,
      uuid,
      ...(isQuestion ? { turnOrigin: 'sdk' } : {}),
      sessionId,
    }
    const line = `${JSON.stringify(record)}\n`
    size += line.length
    lines.push(line)
    parentUuid = uuid
  }
  return Buffer.from(lines.join(''))
}

async function exportOf(world: World, session: string): Promise<void> {
  const response = await world.request('POST', `/api/sessions/${session}/export`, {})
  for await (const _ of response.body ?? []);
}

async function importOf(world: World, file: string): Promise<ImportedSession> {
  const { url } = JSON.parse(readFileSync(join(world.home, 'daemon.json'), 'utf8')) as { url: string }
  const token = readFileSync(join(world.home, 'token'), 'utf8').trim()
  const response = await fetch(`${url}/api/sessions/import?asCopy=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: await openAsBlob(file),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text) as ImportedSession
}

async function unpack(world: World, packed: string): Promise<void> {
  const to = join(world.dir, randomUUID())
  await pipeline(createReadStream(packed), createGunzip(), createWriteStream(to, { flush: true }))
  await rm(to)
}

async function copy(world: World, transcript: string): Promise<void> {
  const to = join(world.dir, randomUUID())
  await pipeline(createReadStream(transcript), createWriteStream(to, { flush: true }))
  await rm(to)
}

async function sink(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}

/** The kernel then counts the peak from here on. */
const resetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5')

function peakMb(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return (Number(kib) * 1024) / 1e6
}
