/** Exports that are read back, and files that are damaged or made to do harm. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Redactor } from '../../src/core/redact/redactor.ts'
import { exportSession } from '../../src/engine/transfer/export.ts'
import { listFiles, readUpTo } from '../../src/engine/transfer/files.ts'
import { importSession } from '../../src/engine/transfer/import.ts'
import { notePlacement, recoverPlacements } from '../../src/engine/transfer/placements.ts'
import { AGENT_SESSION_ID, Home, NOW, questionId, transcript } from './fixture.ts'

let home: Home
let source: Home
beforeEach(() => {
  home = new Home()
  source = new Home()
})
afterEach(() => {
  home.close()
  source.close()
})

const TURNS = [
  { question: 'first', answer: 'one' },
  { question: 'second ✓ 漢字', answer: 'two' },
]

const exported = async (redactor?: Redactor) =>
  buffer(await exportSession(source.deps(redactor), AGENT_SESSION_ID, { redact: redactor !== undefined }))
const take = (bytes: Buffer, options: { workDir?: string; asCopy?: boolean } = {}) =>
  importSession(home.deps(), Readable.from([bytes]), { workDir: home.workDir, asCopy: false, ...options })

const placed = (id: string) =>
  join(home.config, 'projects', home.workDir.replace(/[^a-zA-Z0-9]/g, '-'), `${id}.jsonl`)

describe('an export', () => {
  it('is imported byte for byte, with the other files of the session and its history', async () => {
    const binary = Buffer.from([0xff, 0xfe, 0x00, 0x80]).toString('latin1')
    source.addSession(TURNS, {
      'subagents/agent-1.jsonl': transcript(TURNS),
      'tool-results/a.txt': 'x'.repeat(200_000),
    })
    writeFileSync(join(placedIn(source), 'tool-results', 'b.bin'), Buffer.from(binary, 'latin1'))
    const done = await take(await exported())
    expect(done).toMatchObject({ agentSessionId: AGENT_SESSION_ID, turns: 2, files: 4, conversation: null })
    expect(readFileSync(placed(AGENT_SESSION_ID), 'utf8')).toBe(transcript(TURNS))
    for (const name of ['subagents/agent-1.jsonl', 'tool-results/a.txt', 'tool-results/b.bin']) {
      expect(readFileSync(join(placedIn(home), name))).toEqual(readFileSync(join(placedIn(source), name)))
    }
    const [{ sessions } = { sessions: [] }] = home.added
    expect(sessions[0]).toMatchObject({
      questions: [questionId(0), questionId(1)],
      session: {
        costUsd: 0,
        turns: 2,
        workDir: home.workDir,
        runtime: { command: null, version: '2.1.325' },
      },
      origin: { kind: 'import', sessionId: null, costUsd: 0.2 },
    })
    expect(sessions[0]?.turns.map(({ text }) => text)).toEqual(['first', 'second ✓ 漢字'])
    expect(home.files().filter((path) => path.startsWith('imports'))).toEqual([])
  })

  it('of a session that is being written ends with its last complete record', async () => {
    source.addSession(TURNS)
    const path = `${placedIn(source)}.jsonl`
    writeFileSync(path, `${transcript(TURNS)}{"type":"user","uuid":"torn`)
    await take(await exported())
    expect(readFileSync(placed(AGENT_SESSION_ID), 'utf8')).toBe(transcript(TURNS))
  })

  it('of a sandboxed session reads nothing through a folder that the agent has exchanged for a link', async () => {
    const outside = join(source.dir, 'outside')
    const folder = join(source.dir, 'private', AGENT_SESSION_ID)
    mkdirSync(join(folder, 'results'), { recursive: true })
    mkdirSync(outside)
    writeFileSync(join(outside, 'a.txt'), 'hidden from the agent')
    writeFileSync(join(folder, 'results', 'a.txt'), 'seen by the agent')
    const files = { transcript: `${folder}.jsonl`, folder, noLinks: true }
    const listed = []
    for await (const file of listFiles(files)) listed.push(file)
    const [, result] = listed
    expect((await buffer(Readable.from((await readUpTo(result!))!))).toString()).toBe('seen by the agent')
    rmSync(join(folder, 'results'), { recursive: true })
    symlinkSync(outside, join(folder, 'results'))
    expect(await readUpTo(result!)).toBeNull()
  })

  it('contains no links, wherever they lead', async () => {
    source.addSession(TURNS, { 'tool-results/a.txt': 'a' })
    writeFileSync(join(source.dir, 'secret'), 'do not export this')
    symlinkSync(join(source.dir, 'secret'), join(placedIn(source), 'tool-results', 'link'))
    expect(gunzipSync(await exported()).toString()).not.toContain('do not export')
  })

  it('is free of secrets if asked for, also of keys with several lines, and can still be read', async () => {
    const secret = `sk-ant-api03-${'abcdefgh12345678'.repeat(6)}-AA`
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow'.repeat(20)}\n-----END RSA PRIVATE KEY-----`
    source.addSession([{ question: `use ${secret}`, answer: key }], {
      'tool-results/a.txt': `before\n${key}\nafter ${secret}\n`,
    })
    const redactor = new Redactor({ builtIn: false, patterns: [], values: [] })
    const bytes = await exported(redactor)
    const text = gunzipSync(bytes).toString()
    expect(text).not.toContain(secret)
    expect(text).not.toContain('MIIEow')
    expect(text).toContain('before')
    expect(text).toContain('after')
    const { session } = await take(bytes)
    expect(session).toMatch(/^ses_/)
    const lines = readFileSync(placed(AGENT_SESSION_ID), 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).uuid).filter(Boolean)).toHaveLength(2)
  })
})

describe('an import', () => {
  beforeEach(() => source.addSession(TURNS, { 'tool-results/a.txt': 'result' }))

  it('over an existing session is refused, and gets an id of its own as a copy', async () => {
    const bytes = await exported()
    await take(bytes)
    const before = home.files()
    await expect(take(bytes)).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('--as-copy'),
    })
    expect(home.files()).toEqual(before)
    const copy = await take(bytes, { asCopy: true })
    expect(copy.agentSessionId).not.toBe(AGENT_SESSION_ID)
    expect(readFileSync(placed(copy.agentSessionId), 'utf8')).toBe(transcript(TURNS, copy.agentSessionId))
  })

  it('never replaces files that Reprise does not know', async () => {
    const path = placed(AGENT_SESSION_ID)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, 'made by hand')
    await expect(take(await exported())).rejects.toMatchObject({ code: 'conflict' })
    expect(home.files()).toEqual([path.slice(home.dir.length + 1)])
    expect(readFileSync(path, 'utf8')).toBe('made by hand')
  })

  it('needs a directory that exists here', async () => {
    const bytes = await exported()
    source.close()
    await expect(importSession(home.deps(), Readable.from([bytes]), { asCopy: false })).rejects.toMatchObject(
      {
        code: 'work-dir-unusable',
        hint: expect.stringContaining('--dir'),
      },
    )
    expect(home.files()).toEqual([])
  })

  it('that cannot be stored leaves nothing', async () => {
    home.failure = new Error('the disk is full')
    await expect(take(await exported())).rejects.toThrow('the disk is full')
    expect(home.files()).toEqual([])
  })

  it('is mirrored as soon as it is stored', async () => {
    const { session } = await take(await exported())
    expect(home.mirrored).toEqual([session])
  })

  it('whose daemon dies before it is stored leaves nothing that blocks the next one', async () => {
    source.addSession(TURNS, { 'tool-results/a.txt': 'a' })
    const bytes = await exported()
    let died = () => {}
    const placedAndDead = new Promise<void>((resolve) => {
      died = resolve
    })
    const deps = home.deps()
    // The import never ends: what it left is what a killed daemon leaves.
    const addCopies = () => {
      died()
      return new Promise<never>(() => {})
    }
    void importSession({ ...deps, store: { ...deps.store, addCopies } }, Readable.from([bytes]), {
      workDir: home.workDir,
      asCopy: false,
    })
    await placedAndDead
    expect(existsSync(placed(AGENT_SESSION_ID))).toBe(true)
    await recoverPlacements(deps)
    expect(home.files()).toEqual([])
    expect(await take(bytes)).toMatchObject({ agentSessionId: AGENT_SESSION_ID, files: 2 })
  })

  it('whose daemon dies after it was stored is complete', async () => {
    const deps = home.deps()
    let died = () => {}
    const storedAndDead = new Promise<void>((resolve) => {
      died = resolve
    })
    const addCopies: typeof deps.store.addCopies = async (...stored) => {
      await deps.store.addCopies(...stored)
      died()
      return new Promise<never>(() => {})
    }
    void importSession({ ...deps, store: { ...deps.store, addCopies } }, Readable.from([await exported()]), {
      workDir: home.workDir,
      asCopy: false,
    })
    await storedAndDead
    await recoverPlacements(deps)
    expect(readFileSync(placed(AGENT_SESSION_ID), 'utf8')).toBe(transcript(TURNS))
    expect(home.files().filter((path) => /^imports|placing/.test(path))).toEqual([])
  })

  it('that is recovered never removes what the agent made under the same name meanwhile', async () => {
    const deps = home.deps()
    const path = placed(AGENT_SESSION_ID)
    mkdirSync(join(path, '..'), { recursive: true })
    await notePlacement(deps.imports, {
      agentSessionId: AGENT_SESSION_ID,
      transcript: { partial: `${path}.partial`, final: path },
      folder: null,
    })
    writeFileSync(path, 'made by the agent')
    await recoverPlacements(deps)
    expect(home.files()).toEqual([path.slice(home.dir.length + 1)])
  })

  it('that is cut off anywhere leaves nothing', async () => {
    const bytes = await exported()
    const lines = gunzipSync(bytes).toString().split('\n').slice(0, -1)
    const cuts = [
      ...[0, 1, 20, bytes.length >> 1, bytes.length - 9, bytes.length - 1].map((end) =>
        bytes.subarray(0, end),
      ),
      ...lines.map((_, end) =>
        gzipSync(
          lines
            .slice(0, end)
            .map((line) => `${line}\n`)
            .join(''),
        ),
      ),
      gzipSync(lines.join('\n').slice(0, -3)),
    ]
    for (const cut of cuts) await expect(take(cut)).rejects.toMatchObject({ code: 'bad-request' })
    expect(home.files()).toEqual([])
    expect(home.added).toEqual([])
  })

  it('with any byte changed leaves nothing', async () => {
    const lines = gunzipSync(await exported()).toString()
    for (let at = 0; at < lines.length; at += 97) {
      const changed = `${lines.slice(0, at)}${lines[at] === 'a' ? 'b' : 'a'}${lines.slice(at + 1)}`
      await expect(take(gzipSync(changed)), `changed at ${at}`).rejects.toMatchObject({ code: 'bad-request' })
    }
    expect(home.files()).toEqual([])
  })
})

describe('a hostile file', () => {
  const header = (change: object = {}, session: object = {}) => ({
    header: {
      reprise: 'session',
      format: 1,
      createdAt: NOW.toISOString(),
      redacted: false,
      adapter: 'claude',
      session: {
        agentSessionId: AGENT_SESSION_ID,
        agent: 'claude',
        workDir: '/',
        version: null,
        can: [],
        told: null,
        compacted: false,
        turns: 1,
        contextTokens: null,
        contextWindow: null,
        costUsd: 0,
        createdAt: NOW.toISOString(),
        lastUsedAt: NOW.toISOString(),
        ...session,
      },
      conversation: null,
      ...change,
    },
  })
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const file = (name: string, text: string) => [
    { file: name },
    { text },
    { end: { bytes: Buffer.byteLength(text), sha256: sha(text) } },
  ]
  /** Everything but what the test is about is right. */
  const bundle = (lines: object[]) => {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const count = (name: string) => lines.filter((line) => name in line).length
    const complete = { files: count('file'), messages: count('message'), sha256: sha(text) }
    return gzipSync(`${text}${JSON.stringify({ complete })}\n`)
  }
  const good = file('transcript.jsonl', transcript(TURNS))

  it('as built here is imported, if nothing is wrong with it', async () => {
    expect(await take(bundle([header(), ...good, ...file('files/a', 'a')]))).toMatchObject({ files: 2 })
  })

  const message = (change: object) => ({
    message: {
      turn: 1,
      role: 'user',
      agent: 'claude',
      blocks: [],
      state: 'complete',
      origin: 'reprise',
      createdAt: NOW.toISOString(),
      ...change,
    },
  })
  const wrong: Record<string, object[]> = {
    'a path upwards': [header(), ...good, ...file('files/../../../evil', 'x')],
    'a path upwards at the end': [header(), ...good, ...file('files/..', 'x')],
    'an absolute path': [header(), ...good, ...file('/tmp/reprise-evil', 'x')],
    'an absolute path in the folder': [header(), ...good, ...file('files//tmp/reprise-evil', 'x')],
    'a path outside the folder': [header(), ...good, ...file('other/evil', 'x')],
    'a path with a NUL': [header(), ...good, ...file('files/a\0b', 'x')],
    'a path with a backslash': [header(), ...good, ...file('files/..\\..\\evil', 'x')],
    'a path that is a file and a folder': [
      header(),
      ...good,
      ...file('files/a', 'x'),
      ...file('files/a/b', 'x'),
    ],
    'the same path twice': [header(), ...good, ...file('files/a', 'x'), ...file('files/a', 'y')],
    'a name that is too long': [header(), ...good, ...file(`files/${'a'.repeat(300)}`, 'x')],
    'a link': [header(), ...good, { link: { name: 'files/a', to: '/etc/passwd' } }],
    'a wrong checksum': [
      header(),
      { file: 'transcript.jsonl' },
      { text: 'x' },
      { end: { bytes: 1, sha256: sha('y') } },
    ],
    'a wrong size': [
      header(),
      { file: 'transcript.jsonl' },
      { text: 'x' },
      { end: { bytes: 2, sha256: sha('x') } },
    ],
    'content without a file': [header(), { text: 'x' }],
    'a file that does not end': [header(), { file: 'transcript.jsonl' }, { text: 'x' }],
    'no transcript': [header()],
    'another file first': [header(), ...file('files/a', 'x'), ...good],
    'a transcript of another session': [
      header(),
      ...file('transcript.jsonl', transcript(TURNS, '00000000-1111-4222-8333-444444444444')),
    ],
    'a transcript without messages': [header(), ...file('transcript.jsonl', 'nothing\n')],
    'an id that is a path': [
      header({}, { agentSessionId: '../../evil' }),
      ...file('transcript.jsonl', transcript(TURNS, '../../evil')),
    ],
    'a newer format': [{ header: { reprise: 'session', format: 2, anything: true } }],
    'no header': [...good],
    'a header with wrong types': [header({}, { turns: 'many' }), ...good],
    'messages out of order': [header(), ...good, message({ turn: 2 }), message({ turn: 1 })],
    'an empty piece of a file': [
      header(),
      { file: 'transcript.jsonl' },
      { text: '' },
      { end: { bytes: 0, sha256: sha('') } },
    ],
    'an answer without a question': [header(), ...good, message({ role: 'assistant' })],
    'a message with an unknown block': [header(), ...good, message({ blocks: [{ type: 'surprise' }] })],
  }
  it.each(Object.entries(wrong))('with %s is refused, and nothing is written', async (_, lines) => {
    await expect(take(bundle(lines))).rejects.toMatchObject({ code: 'bad-request' })
    expect(home.files()).toEqual([])
    expect(existsSync('/tmp/reprise-evil')).toBe(false)
    expect(home.added).toEqual([])
  })

  it('with a record that is too long to be read as a whole is refused', async () => {
    const piece = 'x'.repeat(1 << 20)
    const pieces = Array.from({ length: 66 }, () => ({ text: piece }))
    await expect(take(bundle([header(), { file: 'transcript.jsonl' }, ...pieces]))).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringContaining('line that is too long'),
    })
    expect(home.files()).toEqual([])
  })

  it('with a message that is nested too deeply is refused', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const input = JSON.stringify(
      message({ blocks: [{ type: 'tool-use', toolUseId: 't', name: 'n', input: 'DEEP' }] }),
    ).replace('"DEEP"', deep)
    const text = `${[header(), ...good].map((line) => JSON.stringify(line)).join('\n')}\n${input}\n`
    const complete = JSON.stringify({ complete: { files: 1, messages: 1, sha256: sha(text) } })
    await expect(take(gzipSync(`${text}${complete}\n`))).rejects.toMatchObject({ code: 'bad-request' })
    expect(home.files()).toEqual([])
  })

  it('that says something after its end is refused', async () => {
    const lines = gunzipSync(bundle([header(), ...good])).toString()
    await expect(take(gzipSync(`${lines}{"file":"files/late"}\n`))).rejects.toMatchObject({
      code: 'bad-request',
    })
  })

  it('of another kind is refused', async () => {
    for (const bytes of [Buffer.from('PK\x03\x04 no gzip'), gzipSync('{"some":"json"}\n'), gzipSync('')]) {
      await expect(take(bytes)).rejects.toMatchObject({
        code: 'bad-request',
        message: expect.stringContaining('not a complete export'),
      })
    }
  })

  it('of an agent that is not here is refused', async () => {
    await expect(take(bundle([header({ adapter: 'other' }), ...good]))).rejects.toMatchObject({
      code: 'agent-unknown',
    })
  })
})

const placedIn = (at: Home) =>
  join(at.config, 'projects', at.workDir.replace(/[^a-zA-Z0-9]/g, '-'), AGENT_SESSION_ID)
