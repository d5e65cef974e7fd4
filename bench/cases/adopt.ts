/**
 * Adoption of sessions that were made without Reprise: the list of a thousand, their import, and the import of one large
 * session ÷ reading its file and parsing each line once, which is the least that any import must do. That ratio is of
 * processor time, because an import of seconds suffers from a busy machine. The daemon's memory is sampled.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { FoundSession } from '../../src/contract/adopt.ts'
import type { Page } from '../../src/contract/http.ts'
import { World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { type Figure, figure } from '../figure.ts'
import { timeMs } from '../measure.ts'

const MEGABYTE = 2 ** 20

export const adopt: Benchmark = {
  name: 'adopt',
  about:
    'Sessions made without Reprise: listing and adopting a thousand, and importing one of 50 MB ÷ only reading and parsing its lines. Memory is that of the whole daemon.',
  run: async ({ short }) => {
    const [many, largeMb, smallMb, rounds] = short ? [20, 2, 1, 1] : [1000, 50, 5, 5]
    const world = await World.create({ name: 'adopt', rules: [{ reply: 'unused' }] })
    try {
      await world.startDaemon()
      const figures: Figure[] = []
      const before = memoryOf(world.daemonPid)
      for (let n = 0; n < many; n++) writeSession(world, { turns: 20, answerChars: 2000 })
      const listed = await watched(world, () => listAll(world))
      const all = await watched(world, () => world.api('POST', '/api/sessions/adopt', { all: true }))
      const again = await watched(world, () => world.api('POST', '/api/sessions/adopt', { all: true }))
      figures.push(
        figure(`list of ${many} sessions`, 'ms', [listed.ms]),
        figure(`list of ${many} sessions, processor time`, 'ms', [listed.cpuMs]),
        figure(`adoption of ${many} sessions (20 turns each)`, 'ms', [all.ms]),
        figure(`adoption of ${many} sessions, processor time`, 'ms', [all.cpuMs]),
        figure('the same again: nothing to do', 'ms', [again.ms]),
        figure('the daemon before', 'MB', [before]),
        figure('its peak during the adoption of all', 'MB', [all.peakMb]),
      )
      const large: Watched[] = []
      const ratio: number[] = []
      const small: Watched[] = []
      for (let round = 0; round < rounds; round++) {
        for (const [size, samples] of [
          [smallMb, small],
          [largeMb, large],
        ] as const) {
          const turns = size * 25
          const { id, path } = writeSession(world, { turns, answerChars: (size * MEGABYTE) / turns })
          const read = process.cpuUsage()
          await parseLines(path)
          const { user, system } = process.cpuUsage(read)
          const sample = await watched(world, () => world.api('POST', '/api/sessions/adopt', { ids: [id] }))
          samples.push(sample)
          if (size === largeMb) ratio.push((sample.cpuMs * 1000) / (user + system))
          rmSync(path)
        }
      }
      const of = (samples: readonly Watched[], name: keyof Watched) => samples.map((sample) => sample[name])
      figures.push(
        figure(`import of ${largeMb} MB ÷ reading and parsing it once, processor time`, '×', ratio),
        figure(`import of ${largeMb} MB, processor time`, 'ms', of(large, 'cpuMs')),
        figure(`import of ${largeMb} MB`, 'ms', of(large, 'ms')),
        figure(`peak of the daemon, import of ${smallMb} MB`, 'MB', of(small, 'peakMb')),
        figure(`peak of the daemon, import of ${largeMb} MB`, 'MB', of(large, 'peakMb')),
      )
      return figures
    } finally {
      await world.close()
    }
  },
}

async function listAll(world: World): Promise<void> {
  for (let cursor = ''; ; ) {
    const page = await world.api<Page<FoundSession>>('GET', `/api/sessions/adoptable?limit=200${cursor}`)
    if (page.nextCursor === null) return
    cursor = `&cursor=${page.nextCursor}`
  }
}

/** Every second turn uses a tool with a long result, as coding sessions do. */
function writeSession(world: World, { turns, answerChars }: { turns: number; answerChars: number }) {
  const id = randomUUID()
  let newest: string | null = null
  const lines: string[] = []
  const add = (type: string, message: object, more: object = {}) => {
    const uuid = randomUUID()
    const base = {
      parentUuid: newest,
      isSidechain: false,
      type,
      message,
      uuid,
      sessionId: id,
      cwd: world.workDir,
    }
    lines.push(JSON.stringify({ ...base, timestamp: '2026-03-01T10:00:00Z', version: '2.1.300', ...more }))
    newest = uuid
  }
  const text = 'The quick brown fox jumps over the lazy dog. '
    .repeat(Math.ceil(answerChars / 45))
    .slice(0, answerChars)
  for (let turn = 0; turn < turns; turn++) {
    add('user', { role: 'user', content: `question ${turn}` }, { turnOrigin: 'human' })
    if (turn % 2 === 0) add('assistant', { model: 'haiku', content: [{ type: 'text', text }] })
    else {
      const use = { type: 'tool_use', id: `t${turn}`, name: 'Read', input: { file_path: '/x' } }
      add('assistant', { model: 'haiku', content: [use] })
      add('user', { content: [{ type: 'tool_result', tool_use_id: `t${turn}`, content: text }] })
      add('assistant', { model: 'haiku', content: [{ type: 'text', text: 'Read.' }] })
    }
  }
  const folder = join(world.configDir, 'projects', world.workDir.replace(/[^a-zA-Z0-9]/g, '-'))
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${id}.jsonl`)
  writeFileSync(path, `${lines.join('\n')}\n`)
  return { id, path }
}

async function parseLines(path: string): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(path) })) JSON.parse(line)
}

interface Watched {
  ms: number
  /** The processor time of the daemon. */
  cpuMs: number
  peakMb: number
}

async function watched(world: World, work: () => Promise<unknown>): Promise<Watched> {
  let peakMb = 0
  const look = () => {
    peakMb = Math.max(peakMb, memoryOf(world.daemonPid))
  }
  const timer = setInterval(look, 10)
  try {
    const before = cpuMsOf(world.daemonPid)
    const ms = await timeMs(work)
    look()
    return { ms, cpuMs: cpuMsOf(world.daemonPid) - before, peakMb }
  } finally {
    clearInterval(timer)
  }
}

/** Resident memory of the daemon, in megabytes. */
function memoryOf(pid: number): number {
  const [, rss] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(rss ?? 0) / 1024
}

const MS_PER_TICK = 10

function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}
