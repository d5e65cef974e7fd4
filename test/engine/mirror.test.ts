/** The mirror of session files, on real files. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { SessionId } from '../../src/contract/ids.ts'
import { absorbedBy, chunkName, findChain, groupChunks } from '../../src/engine/mirror/chunks.ts'
import { importArchive } from '../../src/engine/mirror/import-archive.ts'
import { Mirror } from '../../src/engine/mirror/mirror.ts'
import { restoreSession } from '../../src/engine/mirror/restore.ts'
import type { SessionRecord } from '../../src/store/runs/session-records.ts'
import { newSession } from '../store/records.ts'
import { base } from '../support/memory/store.ts'

const AGENT_ID = '11111111-2222-4333-8444-555555555555'
const LINE = '{"type":"user"}\n'

function setUp({ transcriptsMs = 1000 } = {}) {
  const dir = mkdtempSync(join(base, 'reprise-mirror-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const project = join(dir, 'claude', 'projects', '-srv-project')
  mkdirSync(project, { recursive: true })
  const transcript = join(project, `${AGENT_ID}.jsonl`)
  writeFileSync(transcript, LINE.repeat(5000))
  const session = newSession({ agentSessionId: AGENT_ID }) as SessionRecord
  const env = { CLAUDE_CONFIG_DIR: join(dir, 'claude') }
  const logged: string[] = []
  const note = (fields: object, message: string) => logged.push(`${message} ${JSON.stringify(fields)}`)
  const log = { info: () => {}, warn: note, error: note }
  const deps = {
    store: {
      getSession: async (id: SessionId) => (id === session.id ? session : null),
      findSession: async (id: string) => (id === AGENT_ID ? session : null),
    },
    agents: { find: () => ({ adapter: claudeAdapter, env }) as never },
    log,
    mirror: join(dir, 'mirror'),
    archive: join(dir, 'archive'),
    settings: { keep: { transcriptsMs } },
  }
  const mirrors = new Mirror(deps)
  const read = async (from = mirrors) => {
    const chunks = await from.readTranscript(session)
    return chunks && text(chunks)
  }
  const home = join(deps.mirror, session.id, AGENT_ID)
  const chunks = () => readdirSync(home).filter((name) => name.startsWith('transcript'))
  return { dir, project, transcript, session, deps, mirrors, read, home, chunks, logged, log }
}

const modeOf = (path: string) => statSync(path).mode & 0o777

it('copies the transcript, compressed and for this user only, and changes nothing', async () => {
  const { mirrors, session, read, home, transcript, deps } = setUp()
  await mirrors.catchUp(session.id)
  expect(await read()).toBe(LINE.repeat(5000))
  expect(readFileSync(transcript, 'utf8')).toBe(LINE.repeat(5000))
  const found = await mirrors.findTranscript(session)
  expect(found).toMatchObject({ path: home })
  expect(found!.bytes).toBeLessThan(LINE.length * 500)
  const [file] = readdirSync(home)
  expect([modeOf(join(home, file!)), modeOf(home), modeOf(deps.mirror)]).toEqual([0o600, 0o700, 0o700])
  expect(await mirrors.sizeOf(session.id)).toBe(found!.bytes)
  expect(await mirrors.listSessions()).toEqual([session.id])
})

it('copies only what was added, and keeps few files, also over many daemons', async () => {
  const { mirrors, deps, session, read, transcript, chunks, home } = setUp()
  await mirrors.catchUp(session.id)
  const [first] = chunks()
  const inode = statSync(join(home, first!)).ino
  appendFileSync(transcript, 'one\n')
  await mirrors.catchUp(session.id)
  expect(chunks()).toHaveLength(2)
  expect(statSync(join(home, first!)).ino, 'the old chunk is not written again').toBe(inode)
  for (let turn = 0; turn < 200; turn++) {
    appendFileSync(transcript, `turn ${turn}\n`)
    await (turn % 7 === 0 ? new Mirror(deps) : mirrors).catchUp(session.id)
  }
  expect(await read()).toBe(readFileSync(transcript, 'utf8'))
  expect(chunks().length).toBeLessThan(15)
})

it('an unchanged file is not touched', async () => {
  const { mirrors, deps, session, home } = setUp()
  await mirrors.catchUp(session.id)
  const before = readdirSync(home).map((name) => statSync(join(home, name)).mtimeMs)
  await mirrors.catchUp(session.id)
  await new Mirror(deps).catchUp(session.id)
  expect(readdirSync(home).map((name) => statSync(join(home, name)).mtimeMs)).toEqual(before)
})

it.each([
  ['in place', (path: string, text: string) => writeFileSync(path, text)],
  [
    'by a rename',
    (path: string, text: string) => {
      writeFileSync(`${path}.new`, text)
      renameSync(`${path}.new`, path)
    },
  ],
])('a file that is rewritten %s is copied again; nothing of the old copy is left', async (_, rewrite) => {
  const { mirrors, deps, session, read, transcript, chunks } = setUp()
  await mirrors.catchUp(session.id)
  for (const text of ['other\n'.repeat(20_000), `new${LINE.repeat(4999)}`, 'x'.repeat(LINE.length * 5000)]) {
    rewrite(transcript, text)
    await mirrors.catchUp(session.id)
    expect(await read()).toBe(text)
    expect(chunks()).toHaveLength(1)
  }
  rewrite(transcript, 'another daemon finds this\n'.repeat(9000))
  await new Mirror(deps).catchUp(session.id)
  expect(await read()).toBe('another daemon finds this\n'.repeat(9000))
})

it('keeps what it has when the file is cut off, emptied or deleted, and goes on from what is written next', async () => {
  const { mirrors, session, read, transcript } = setUp()
  const whole = LINE.repeat(5000)
  await mirrors.catchUp(session.id)
  for (const size of [LINE.length * 10, 0]) {
    truncateSync(transcript, size)
    await mirrors.catchUp(session.id)
    expect(await read()).toBe(whole)
  }
  rmSync(transcript)
  await mirrors.catchUp(session.id)
  expect(await read()).toBe(whole)
  writeFileSync(transcript, `${LINE.repeat(10)}and on\n`)
  await mirrors.catchUp(session.id)
  expect(await read()).toBe(`${LINE.repeat(10)}and on\n`)
})

it('a file that was cut off and then written on differently is copied again', async () => {
  const { mirrors, session, read, transcript } = setUp()
  await mirrors.catchUp(session.id)
  truncateSync(transcript, LINE.length * 10)
  await mirrors.catchUp(session.id)
  appendFileSync(transcript, 'other\n'.repeat(15_000))
  await mirrors.catchUp(session.id)
  expect(await read()).toBe(LINE.repeat(10) + 'other\n'.repeat(15_000))
})

it('a link that an agent in a sandbox makes after its files were found is not followed', async () => {
  const { dir, deps, session, transcript } = setUp()
  const own = join(dir, 'claude', 'projects', `-srv-project-${AGENT_ID}`)
  mkdirSync(join(own, AGENT_ID), { recursive: true })
  renameSync(transcript, join(own, `${AGENT_ID}.jsonl`))
  const secrets = join(dir, 'secrets')
  mkdirSync(secrets)
  writeFileSync(join(secrets, 'key'), 'SECRET')
  const exchange = (path: string, target: string) => {
    rmSync(path, { recursive: true })
    symlinkSync(target, path)
  }
  const found = deps.agents.find() as { adapter: typeof claudeAdapter; env: object }
  const locateSession: typeof claudeAdapter.locateSession = async (...asked) => {
    const files = await claudeAdapter.locateSession(...asked)
    exchange(join(own, `${AGENT_ID}.jsonl`), join(secrets, 'key'))
    exchange(join(own, AGENT_ID), secrets)
    return files
  }
  const agents = { find: () => ({ ...found, adapter: { ...claudeAdapter, locateSession } }) as never }
  const mirrors = new Mirror({ ...deps, agents })
  await mirrors.catchUp(session.id)
  expect(await mirrors.sizeOf(session.id)).toBe(0)
})

it('a file of many megabytes is copied in pieces', async () => {
  const { mirrors, session, read, transcript, chunks } = setUp()
  const lines = Array.from(
    { length: 200_000 },
    (_, index) => `{"line":${index},"x":"${'y'.repeat(40)}"}\n`,
  ).join('')
  writeFileSync(transcript, lines)
  await mirrors.catchUp(session.id)
  expect((await read()) === lines).toBe(true)
  expect(chunks().length).toBeGreaterThan(2)
  writeFileSync(transcript, `z${lines}`)
  await mirrors.catchUp(session.id)
  expect((await read()) === `z${lines}`).toBe(true)
})

it('copies the other files of the session, follows no link, and leaves out what is just being written', async () => {
  const { dir, project, mirrors, session } = setUp()
  mkdirSync(join(project, AGENT_ID, 'subagents'), { recursive: true })
  mkdirSync(join(project, AGENT_ID, 'tool-results'))
  writeFileSync(join(project, AGENT_ID, 'subagents', 'agent-a.jsonl'), 'inner')
  writeFileSync(join(project, AGENT_ID, 'tool-results', 'empty.txt'), '')
  writeFileSync(join(project, AGENT_ID, 'subagents', 'agent-a.meta.json.tmp.0019fa37'), '{"half')
  writeFileSync(join(dir, 'secret'), 'secret')
  symlinkSync(join(dir, 'secret'), join(project, AGENT_ID, 'link'))
  symlinkSync(dir, join(project, AGENT_ID, 'folder-link'))
  await mirrors.catchUp(session.id)
  const paths = (await mirrors.list(session)).map(({ path }) => path.join('/'))
  expect(paths.toSorted()).toEqual(['', 'subagents/agent-a.jsonl', 'tool-results/empty.txt'])
  expect(paths.at(-1), 'the transcript is last').toBe('')
})

it('restores a missing session completely, also to another home; a file that is there stays as it is', async () => {
  const { dir, project, mirrors, session, log } = setUp()
  mkdirSync(join(project, AGENT_ID, 'tool-results'), { recursive: true })
  writeFileSync(join(project, AGENT_ID, 'tool-results', 'long.txt'), 'long')
  await mirrors.catchUp(session.id)
  const other = join(dir, 'other')
  const restore = (home: string, agentSessionId = AGENT_ID) =>
    restoreSession(
      { mirrors, log },
      { adapter: claudeAdapter, env: { CLAUDE_CONFIG_DIR: home } },
      { ...session, agentSessionId },
    )
  expect(await restore(other)).toBe(true)
  const there = join(other, 'projects', '-srv-project')
  expect(readFileSync(join(there, `${AGENT_ID}.jsonl`), 'utf8')).toBe(LINE.repeat(5000))
  expect(readFileSync(join(there, AGENT_ID, 'tool-results', 'long.txt'), 'utf8')).toBe('long')
  expect(readdirSync(there).toSorted()).toEqual([AGENT_ID, `${AGENT_ID}.jsonl`])
  expect(modeOf(join(there, `${AGENT_ID}.jsonl`))).toBe(0o600)
  writeFileSync(join(there, `${AGENT_ID}.jsonl`), 'newer, or a branch')
  expect(await restore(other)).toBe(true)
  expect(readFileSync(join(there, `${AGENT_ID}.jsonl`), 'utf8')).toBe('newer, or a branch')
  expect(await restore(join(dir, 'third'), '99999999-2222-4333-8444-555555555555')).toBe(false)
  expect(existsSync(join(dir, 'third'))).toBe(false)
})

it('a damaged copy is not restored, and is repaired from the file as long as that is there', async () => {
  const { dir, mirrors, deps, session, read, chunks, home, log, logged } = setUp()
  await mirrors.catchUp(session.id)
  const path = join(home, chunks()[0]!)
  writeFileSync(path, readFileSync(path).subarray(0, 60))
  await expect(read()).rejects.toThrow()
  const env = { CLAUDE_CONFIG_DIR: join(dir, 'other') }
  expect(await restoreSession({ mirrors, log }, { adapter: claudeAdapter, env }, session)).toBe(false)
  expect(logged.join()).toContain('could not restore')
  const left = existsSync(env.CLAUDE_CONFIG_DIR)
    ? readdirSync(env.CLAUDE_CONFIG_DIR, { recursive: true, withFileTypes: true }).filter((f) => f.isFile())
    : []
  expect(left).toEqual([])
  await new Mirror(deps).catchUp(session.id)
  expect(await read()).toBe(LINE.repeat(5000))
})

it('nothing is copied if copies are not kept, for a session that is not known, or for an id that could be a path', async () => {
  const off = setUp({ transcriptsMs: 0 })
  await off.mirrors.catchUp(off.session.id)
  const { mirrors, deps, session } = setUp()
  await mirrors.catchUp(SessionId.create(new Date(0)))
  await mirrors.catchUp(session.id, ['../x', '..', '', '/etc', 'a/b', 'a\0b', '.hidden', 'x'.repeat(200)])
  expect([off.deps.mirror, deps.mirror].map((path) => existsSync(path))).toEqual([false, false])
})

it('what cannot be written is logged and harms nobody', async () => {
  const { mirrors, deps, session, logged } = setUp()
  writeFileSync(deps.mirror, 'in the way')
  await mirrors.catchUp(session.id)
  expect(logged.join()).toContain('could not mirror a session')
  expect(readFileSync(deps.mirror, 'utf8')).toBe('in the way')
})

it('a copy that somebody has deleted is made again', async () => {
  const { mirrors, deps, session, read, transcript } = setUp()
  await mirrors.catchUp(session.id)
  rmSync(deps.mirror, { recursive: true })
  await mirrors.catchUp(session.id)
  expect(await read()).toBe(LINE.repeat(5000))
  rmSync(deps.mirror, { recursive: true })
  appendFileSync(transcript, 'more')
  await mirrors.catchUp(session.id)
  expect(await read()).toBe(`${LINE.repeat(5000)}more`)
})

it('is removed as a whole; a removal that a crash interrupted is finished', async () => {
  const { mirrors, deps, session, read } = setUp()
  await mirrors.catchUp(session.id)
  mkdirSync(join(deps.mirror, '.removing-x', 'rest'), { recursive: true })
  await mirrors.remove(session.id)
  expect(await read()).toBeNull()
  expect(readdirSync(deps.mirror)).toEqual(['.removing-x'])
  await mirrors.tidy()
  expect(readdirSync(deps.mirror)).toEqual([])
  await mirrors.remove(session.id)
  await mirrors.catchUp(session.id)
  expect(await read()).toBe(LINE.repeat(5000))
})

it('a crash leaves what was whole before: partial files, covered chunks and unfinished generations do not count', async () => {
  const { mirrors, deps, session, read, home, transcript, chunks } = setUp()
  writeFileSync(transcript, 'abcdef')
  await mirrors.catchUp(session.id)
  const put = (generation: number, from: number, text: string) =>
    writeFileSync(
      join(home, chunkName('transcript', { generation, from, to: from + text.length })),
      gzipSync(text),
    )
  // A chunk that was to be merged and is still there; one beyond a gap; a generation without its beginning.
  put(1, 0, 'abc')
  put(1, 3, 'def')
  put(1, 50, 'xyz')
  put(2, 4, 'new')
  writeFileSync(join(home, 'transcript.3.0000000000000-0000000000003.gz.partial'), 'torn')
  expect(await read()).toBe('abcdef')
  appendFileSync(transcript, 'ghi')
  await new Mirror(deps).catchUp(session.id)
  expect(await read()).toBe('abcdefghi')
  expect(chunks().every((name) => /^transcript\.1\.\d+-\d+\.gz$/.test(name))).toBe(true)
})

it('chunks: at every moment of a random history, the chain is the content up to some moment', () => {
  const chunk = (generation: number, from: number, to: number) => ({
    file: chunkName('a.b.1', { generation, from, to }),
    generation,
    from,
    to,
  })
  const all = [chunk(1, 0, 10), chunk(1, 10, 20), chunk(1, 0, 20), chunk(1, 20, 25), chunk(1, 30, 40)]
  expect(findChain(all)).toMatchObject({ to: 25, chunks: [{ to: 20 }, { to: 25 }] })
  expect(findChain([chunk(1, 10, 20)])).toBeNull()
  expect(findChain([chunk(1, 0, 5), chunk(2, 3, 9)])).toMatchObject({ generation: 1, to: 5 })
  expect(findChain([chunk(1, 0, 0)])).toMatchObject({ to: 0 })
  expect(groupChunks([...all.map(({ file }) => file), 'else', 'x.gz.partial']).get('a.b.1')).toEqual(all)
  const chain = findChain([chunk(1, 0, 1000), chunk(1, 1000, 1100), chunk(1, 1100, 1150)])!
  expect(absorbedBy(chain, 30, 1e6).map(({ from }) => from)).toEqual([1000, 1100])
  expect(absorbedBy(chain, 10, 1e6)).toEqual([])
  expect(absorbedBy(chain, 600, 1e6)).toHaveLength(3)
  expect(absorbedBy(chain, 600, 700).map(({ from }) => from)).toEqual([1100])
})

it('what earlier versions archived for jobs is taken over, the newest copy of each session', async () => {
  const { deps, mirrors, read, session, home } = setUp()
  const at = (job: string, name: string, text: string, day: number) => {
    const path = join(deps.archive, job, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, gzipSync(text))
    utimesSync(path, new Date(0), new Date(day * 86_400_000))
    return path
  }
  at('job_a', `${AGENT_ID}.jsonl.gz`, 'older', 1)
  at('job_b', `${AGENT_ID}.jsonl.gz`, 'newer', 2)
  at('job_b', join(AGENT_ID, 'subagents', 'agent.jsonl.gz'), 'inner', 2)
  const unknown = at('job_c', '99999999-2222-4333-8444-555555555555.jsonl.gz', 'whose?', 3)
  await importArchive({ ...deps, mirrors })
  expect(await read()).toBe('newer')
  expect((await mirrors.list(session)).map(({ path }) => path.join('/'))).toEqual([
    'subagents/agent.jsonl',
    '',
  ])
  expect(readdirSync(deps.archive)).toEqual(['job_c'])
  expect(gunzipSync(readFileSync(unknown)).toString()).toBe('whose?')
  const files = readdirSync(home)
  await importArchive({ ...deps, mirrors })
  expect(readdirSync(home)).toEqual(files)
  rmSync(join(deps.archive, 'job_c'), { recursive: true })
  await importArchive({ ...deps, mirrors })
  expect(existsSync(deps.archive)).toBe(false)
})

it('that it could not be written is reported, and made good the next time', async () => {
  const { mirrors, session, logged, read, dir } = setUp()
  writeFileSync(join(dir, 'mirror'), 'a file where the folder should be')
  expect(await mirrors.catchUp(session.id)).toBe(false)
  expect(logged.join()).toContain('could not mirror a session')
  rmSync(join(dir, 'mirror'))
  expect(await mirrors.catchUp(session.id)).toBe(true)
  expect(await read()).toBe(LINE.repeat(5000))
})
