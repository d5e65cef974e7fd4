/** The archive of settled jobs, on real files. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { archiveSession, readArchive, sweepArchive } from '../../src/engine/sessions/archive.ts'
import { newestArchives, restoreSession } from '../../src/engine/sessions/restore.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const JOB = 'job_01ABC'
const TRANSCRIPT = '{"type":"user"}\n'.repeat(5000)

function setUp() {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-archive-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const project = join(dir, 'claude', 'projects', '-srv-project')
  mkdirSync(project, { recursive: true })
  const transcript = join(project, `${ID}.jsonl`)
  writeFileSync(transcript, TRANSCRIPT)
  const archiveDir = join(dir, 'archive')
  const parts = { archiveDir, adapter: claudeAdapter, env: { CLAUDE_CONFIG_DIR: join(dir, 'claude') } }
  const archive = (jobId = JOB, agentSessionId = ID) =>
    archiveSession(parts, { jobId, agentSessionId, workDir: '/srv/project' })
  const read = async (jobId = JOB, agentSessionId = ID) => {
    const stream = await readArchive(archiveDir, { jobId, agentSessionId })
    return stream && text(stream)
  }
  return { dir, project, transcript, archiveDir, archive, read }
}

const modeOf = (path: string) => statSync(path).mode & 0o777

it('keeps the transcript, compressed and for this user only, and returns it unchanged', async () => {
  const { archiveDir, archive, read, transcript } = setUp()
  const archived = await archive()
  const path = join(archiveDir, JOB, `${ID}.jsonl.gz`)
  expect(archived).toEqual({ path, bytes: statSync(path).size })
  expect(archived!.bytes).toBeLessThan(TRANSCRIPT.length / 10)
  expect([modeOf(path), modeOf(join(archiveDir, JOB)), modeOf(archiveDir)]).toEqual([0o600, 0o700, 0o700])
  expect(await read()).toBe(TRANSCRIPT)
  expect(readFileSync(transcript, 'utf8')).toBe(TRANSCRIPT)
})

it('keeps the other files of the session, and follows no link', async () => {
  const { dir, project, archiveDir, archive } = setUp()
  mkdirSync(join(project, ID, 'subagents'), { recursive: true })
  writeFileSync(join(project, ID, 'subagents', 'agent-a.jsonl'), 'inner')
  writeFileSync(join(dir, 'secret'), 'secret')
  symlinkSync(join(dir, 'secret'), join(project, ID, 'link'))
  symlinkSync(dir, join(project, ID, 'folder-link'))
  await archive()
  const files = readdirSync(join(archiveDir, JOB), { recursive: true, withFileTypes: true })
  expect(files.filter((f) => f.isFile()).map((f) => f.name)).toEqual(
    expect.arrayContaining(['agent-a.jsonl.gz', `${ID}.jsonl.gz`]),
  )
  expect(files.filter((f) => f.isFile())).toHaveLength(2)
  const inner = readFileSync(join(archiveDir, JOB, ID, 'subagents', 'agent-a.jsonl.gz'))
  expect(gunzipSync(inner).toString()).toBe('inner')
})

it('restores a missing session completely, also to another home, and replaces no file', async () => {
  const { dir, project, archiveDir, archive } = setUp()
  mkdirSync(join(project, ID, 'tool-results'), { recursive: true })
  writeFileSync(join(project, ID, 'tool-results', 'long.txt'), 'long')
  await archive()
  const restore = (home: string, jobId = JOB) =>
    restoreSession(
      { archiveDir, adapter: claudeAdapter, env: { CLAUDE_CONFIG_DIR: home } },
      { jobId, agentSessionId: ID, workDir: '/srv/project' },
    )
  const other = join(dir, 'other')
  expect(await restore(other)).toBe(true)
  const there = join(other, 'projects', '-srv-project')
  expect(readFileSync(join(there, `${ID}.jsonl`), 'utf8')).toBe(TRANSCRIPT)
  expect(readFileSync(join(there, ID, 'tool-results', 'long.txt'), 'utf8')).toBe('long')
  expect(readdirSync(there).toSorted()).toEqual([ID, `${ID}.jsonl`])
  expect(modeOf(join(there, `${ID}.jsonl`))).toBe(0o600)
  writeFileSync(join(there, `${ID}.jsonl`), 'newer')
  expect(await restore(other)).toBe(true)
  expect(readFileSync(join(there, `${ID}.jsonl`), 'utf8')).toBe('newer')
  expect(await restore(join(dir, 'third'), 'job_other')).toBe(false)
  expect(existsSync(join(dir, 'third'))).toBe(false)
})

it('finds the newest of several copies first, for any job', async () => {
  const { archiveDir, archive } = setUp()
  for (const [job, day] of [
    ['job_a', 2],
    ['job_b', 9],
    ['job_c', 1],
  ] as const) {
    const { path } = (await archive(job))!
    utimesSync(path, new Date(0), new Date(day * 86_400_000))
  }
  const jobs = ['job_a', 'job_none', 'job_b', 'job_c']
  expect(await newestArchives(archiveDir, jobs, ID)).toEqual(['job_b', 'job_a', 'job_c'])
})

it('can be repeated: the newer state replaces the older one, and no other files are left', async () => {
  const { archiveDir, archive, read, transcript } = setUp()
  await archive()
  writeFileSync(transcript, `${TRANSCRIPT}more\n`)
  await Promise.all([archive(), archive(), archive()])
  expect(await read()).toBe(`${TRANSCRIPT}more\n`)
  expect(readdirSync(join(archiveDir, JOB))).toEqual([`${ID}.jsonl.gz`])
})

it('keeps its copy when the agent has cleaned up; returns null if there was never a transcript', async () => {
  const { archive, read, transcript, archiveDir } = setUp()
  const first = await archive()
  rmSync(transcript)
  expect(await archive()).toEqual(first)
  expect(await read()).toBe(TRANSCRIPT)
  expect(await archive('job_other')).toBeNull()
  expect(await read('job_other')).toBeNull()
  expect(readdirSync(archiveDir)).toEqual([JOB])
})

it.each(['../x', '..', '', '/etc', 'a/b', 'a\0b', '.hidden', 'x'.repeat(200)])(
  'an id that could be a path is none: %j',
  async (id) => {
    const { dir, archive, read, archiveDir } = setUp()
    const before = readdirSync(dir, { recursive: true }).toSorted()
    expect([await archive(id), await archive(JOB, id)]).toEqual([null, null])
    expect([await read(id), await read(JOB, id)]).toEqual([null, null])
    expect(readdirSync(dir, { recursive: true }).toSorted()).toEqual(before)
    expect(existsSync(archiveDir)).toBe(false)
  },
)

it.skipIf(process.getuid?.() === 0)('rejects when it cannot write, and leaves no partial file', async () => {
  const { archive, archiveDir } = setUp()
  mkdirSync(archiveDir)
  chmodSync(archiveDir, 0o500)
  await expect(archive()).rejects.toThrow(/EACCES/)
})

it('a file in the way is an error, not a loss', async () => {
  const { archive, archiveDir } = setUp()
  writeFileSync(archiveDir, 'in the way')
  await expect(archive()).rejects.toThrow()
  expect(readFileSync(archiveDir, 'utf8')).toBe('in the way')
})

it('a damaged archive fails in the reader, not in the process', async () => {
  const { archive, read } = setUp()
  const { path } = (await archive())!
  writeFileSync(path, readFileSync(path).subarray(0, 60))
  await expect(read()).rejects.toThrow()
})

it('removes old jobs, finishes a removal that a crash interrupted, and touches nothing else', async () => {
  const { archive, archiveDir } = setUp()
  const now = new Date('2026-03-01T00:00:00Z')
  const ago = (days: number) => new Date(now.getTime() - days * 86_400_000)
  for (const [job, days] of [
    ['job_old', 31],
    ['job_new', 29],
  ] as const) {
    const { path } = (await archive(job))!
    utimesSync(path, ago(days), ago(days))
  }
  mkdirSync(join(archiveDir, '.removing-job_half-x', 'rest'), { recursive: true })
  writeFileSync(join(archiveDir, '.keep'), '')
  writeFileSync(join(archiveDir, 'README'), '')
  utimesSync(join(archiveDir, 'README'), ago(99), ago(99))
  expect(await sweepArchive(archiveDir, 30 * 86_400_000, now)).toBe(1)
  expect(readdirSync(archiveDir).toSorted()).toEqual(['.keep', 'README', 'job_new'])
  expect(await sweepArchive(archiveDir, 30 * 86_400_000, now)).toBe(0)
  expect(await sweepArchive(join(archiveDir, 'nowhere'), 0, now)).toBe(0)
})
