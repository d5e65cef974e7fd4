/**
 * What inspecting a transcript reports, and how an incomplete one is repaired. The chains are those of the real CLI,
 * shortened.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { locateClaudeSession } from '../../src/agents/claude/locate.ts'
import { mendClaudeTranscript } from '../../src/agents/claude/mend.ts'
import { inspectClaudeTranscript } from '../../src/agents/claude/transcript.ts'
import type { TranscriptQuery } from '../../src/agents/session-files.ts'
import { temporaryDir } from './temporary-dir.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const OTHER = '66666666-2222-4333-8444-555555555555'
const WORK_DIR = '/srv/project'

const record = (type: string, uuid: string, parentUuid: string | null, more: object = {}) =>
  JSON.stringify({ parentUuid, isSidechain: false, type, uuid, sessionId: ID, ...more })
const user = (uuid: string, parent: string | null, more: object = {}) =>
  record('user', uuid, parent, { message: { role: 'user', content: 'hi' }, ...more })
const assistant = (uuid: string, parent: string | null, more: object = {}) =>
  record('assistant', uuid, parent, { message: { role: 'assistant', model: 'haiku', content: [] }, ...more })
const note = '{"type":"cost-state","sessionId":"x"}'
const command = (uuid: string, parent: string) =>
  user(uuid, parent, { message: { content: '<command-name>/compact</command-name>' } })

const CHAIN = [
  note,
  user('u1', null),
  record('attachment', 'x1', 'u1'),
  assistant('a1', 'x1'),
  note,
  user('u2', 'a1'),
  assistant('a2', 'u2'),
  note,
]

function write(lines: readonly string[] | string, slug = '-srv-project', dir = temporaryDir()) {
  const path = join(dir, 'projects', slug, `${ID}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof lines === 'string' ? lines : `${lines.join('\n')}\n`)
  const env = { CLAUDE_CONFIG_DIR: dir }
  const inspect = (query: Partial<TranscriptQuery> = {}) =>
    inspectClaudeTranscript(ID, env, { workDir: WORK_DIR, ...query })
  return { dir, path, env, inspect }
}

const without = (...uuids: string[]) =>
  CHAIN.filter((line) => !uuids.some((uuid) => line.includes(`"uuid":"${uuid}"`)))

describe('a transcript is present', () => {
  it.each<[string, readonly string[]]>([
    ['with its whole chain', CHAIN],
    ['with lines in between that are none', [...CHAIN.slice(0, 4), 'garbage \0', '', ...CHAIN.slice(4)]],
    [
      'after a compaction, whatever is missing before it',
      [
        ...without('u1', 'x1'),
        record('system', 's', null, { subtype: 'compact_boundary', logicalParentUuid: 'a2' }),
        user('u3', 's'),
        assistant('a3', 'u3'),
      ],
    ],
    ['with another branch that leads nowhere', [user('lost', 'nobody'), ...CHAIN]],
    ['with a sub-agent in it', [...CHAIN, user('s1', 'elsewhere', { isSidechain: true })]],
    ['with messages of the session it was forked from', [user('u0', null, { sessionId: OTHER }), ...CHAIN]],
  ])('%s', async (_, lines) => {
    expect(await write(lines).inspect()).toMatchObject({ state: 'present' })
  })
})

describe('a transcript is broken', () => {
  it.each<[string, readonly string[]]>([
    ['without its beginning', without('u1')],
    ['without a record in the middle', without('a1')],
    ['without several', without('x1', 'a1', 'u2')],
    [
      'with a record that is damaged',
      CHAIN.map((line) => (line.includes('"a1"') ? `${line.slice(0, 40)}\0` : line)),
    ],
    ['when it runs in a circle', [user('u1', 'a1'), assistant('a1', 'u1')]],
  ])('%s', async (_, lines) => {
    expect(await write(lines).inspect()).toMatchObject({ state: 'broken' })
  })
})

it("is foreign when all of its messages are another session's", async () => {
  const lines = CHAIN.map((line) => line.replaceAll(ID, OTHER))
  expect(await write(lines).inspect()).toMatchObject({ state: 'foreign' })
})

describe('turns of others in a session', () => {
  const asked = (uuid: string, parent: string | null, more: object = {}) =>
    user(uuid, parent, { turnOrigin: 'sdk', message: { content: `words of ${uuid}` }, ...more })
  const said = (uuid: string, parent: string, ...content: object[]) =>
    assistant(uuid, parent, {
      message: { model: 'haiku', content: [{ type: 'text', text: uuid }, ...content] },
    })
  const OURS = [asked('o1', null), said('a1', 'o1'), asked('o2', 'a1'), said('a2', 'o2')]
  const look = async (lines: readonly string[], ours = ['o1', 'o2']) => {
    const { state, outside } = await write(lines).inspect({ ownIds: new Set(ours) })
    return { state, outside: outside.map(({ text, inSession }) => [text, inSession]) }
  }

  it.each<[string, readonly string[], string, [string, boolean][]]>([
    ['nothing', OURS, 'present', []],
    ['a turn after ours', [...OURS, asked('x', 'a2'), said('ax', 'x')], 'present', [['words of x', true]]],
    ['without an answer yet', [...OURS, asked('x', 'a2')], 'present', [['words of x', true]]],
    [
      'typed by a person',
      [...OURS, asked('x', 'a2', { turnOrigin: 'human' })],
      'present',
      [['words of x', true]],
    ],
    [
      'between turns of ours',
      [...OURS.slice(0, 2), asked('x', 'a1'), said('ax', 'x'), asked('o2', 'ax'), said('a2', 'o2')],
      'present',
      [['words of x', true]],
    ],
    [
      'after a compaction by hand',
      [
        ...OURS,
        record('system', 's', null, { subtype: 'compact_boundary', logicalParentUuid: 'a2' }),
        user('sum', 's', { isCompactSummary: true }),
        asked('x', 'sum'),
      ],
      'present',
      [['words of x', true]],
    ],
    [
      'a branch from before our last turn',
      [...OURS, asked('x', 'a1'), said('ax', 'x')],
      'forked',
      [['words of x', false]],
    ],
    [
      'a branch from before our last answer',
      [...OURS, asked('x', 'o2'), said('ax', 'x')],
      'forked',
      [['words of x', false]],
    ],
    [
      'a branch that our next turn has left behind',
      [...OURS.slice(0, 3), asked('x', 'o2'), said('ax', 'x'), said('a2', 'o2')],
      'present',
      [['words of x', false]],
    ],
    [
      'an extension, and a fork after it',
      [...OURS.slice(0, 2), asked('x', 'a1'), asked('o2', 'x'), said('a2', 'o2'), asked('y', 'x')],
      'forked',
      [
        ['words of x', true],
        ['words of y', false],
      ],
    ],
    [
      'nothing, where it was said in another session',
      [asked('x', null, { sessionId: OTHER }), ...OURS],
      'present',
      [],
    ],
    [
      'nothing, where the agent only talks to itself',
      [
        ...OURS,
        asked('t', 'a2', { turnOrigin: 'task_notification' }),
        user('m', 't', { isMeta: true }),
        user('c', 'm', { message: { content: '<command-name>/cost</command-name>' } }),
        user('r', 'c', { message: { content: [{ type: 'tool_result', tool_use_id: 'x', content: 'y' }] } }),
        asked('sub', 'elsewhere', { isSidechain: true }),
      ],
      'present',
      [],
    ],
  ])('%s', async (_, lines, state, outside) => {
    expect(await look(lines)).toEqual({ state, outside })
  })

  it('in versions that do not mark who asked: a text that the CLI did not write', async () => {
    const old = (lines: readonly string[]) => lines.map((line) => line.replace('"turnOrigin":"sdk",', ''))
    const notices = [
      user('i', 'a2', { message: { content: '[Request interrupted by user]' } }),
      user('n', 'i', { message: { content: '<task-notification>done</task-notification>' } }),
    ]
    expect(await look(old([...OURS, ...notices]))).toEqual({ state: 'present', outside: [] })
    expect((await look(old([...OURS, asked('x', 'a2')]))).outside).toEqual([['words of x', true]])
  })

  it('are read with what was done, and a command as it was typed', async () => {
    const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'x'.repeat(20_000), is_error: true }
    const lines = [
      ...OURS,
      asked('x', 'a2', {
        timestamp: '2026-03-01T12:00:00.000Z',
        message: { content: '<command-name>/review</command-name>\n<command-args>it all</command-args>' },
      }),
      said('ax', 'x', { type: 'thinking', thinking: 'hm' }, call),
      user('r', 'ax', { message: { content: [result] } }),
    ]
    const { outside } = await write(lines).inspect({ ownIds: new Set(['o1', 'o2']) })
    expect(outside).toMatchObject([
      { id: 'x', text: '/review it all', saidAt: new Date('2026-03-01T12:00:00Z') },
    ])
    expect(outside[0]?.answer).toEqual([
      { type: 'text', text: 'ax' },
      { type: 'tool-use', toolUseId: 't1', name: 'Bash', input: { command: 'ls' }, kind: 'shell' },
      {
        type: 'tool-result',
        toolUseId: 't1',
        isError: true,
        content: expect.stringContaining('4000 more characters'),
        clipped: 4000,
      },
    ])
  })
})

describe('a transcript is behind', () => {
  it.each<[string, readonly string[], string]>([
    ['without the question that was answered', CHAIN.slice(0, 5), 'u2'],
    ['without the answer', without('a2'), 'u2'],
    [
      'with nothing but words of the CLI itself after it',
      [...without('a2'), assistant('s', 'u2', { message: { model: '<synthetic>' } })],
      'u2',
    ],
  ])('%s', async (_, lines, answeredId) => {
    expect(await write(lines).inspect({ answeredId })).toMatchObject({ state: 'behind' })
    expect(await write(lines).inspect()).toMatchObject({ state: 'present' })
  })

  it('but not when the answer is there, or when the CLI executed it itself', async () => {
    expect(await write(CHAIN).inspect({ answeredId: 'u2' })).toMatchObject({ state: 'present' })
    expect(await write(CHAIN).inspect({ answeredId: 'u1' })).toMatchObject({ state: 'present' })
    const compacted = [...CHAIN, command('c', 'a2')]
    expect(await write(compacted).inspect({ answeredId: 'c' })).toMatchObject({ state: 'present' })
    const added = [
      { type: 'text', text: '<reprise>' },
      { type: 'text', text: '<command-name>/x</command-name>' },
    ]
    const withMore = [...CHAIN, user('c', 'a2', { message: { content: added } })]
    expect(await write(withMore).inspect({ answeredId: 'c' })).toMatchObject({ state: 'present' })
  })
})

describe('among several files with one id', () => {
  const find = (dir: string, workDir = WORK_DIR) =>
    locateClaudeSession(ID, { CLAUDE_CONFIG_DIR: dir }, workDir)

  it('that of the work directory is used; else the only one; else none, as with the CLI', async () => {
    const { dir } = write(CHAIN, '-aaa')
    expect((await find(dir))?.transcript).toContain('/-aaa/')
    write(CHAIN, '-zzz', dir)
    expect(await find(dir)).toBeNull()
    const { path } = write(CHAIN, '-srv-project', dir)
    expect(await find(dir)).toEqual({ transcript: path, folder: null })
    mkdirSync(path.slice(0, -'.jsonl'.length))
    expect((await find(dir))?.folder).toBe(path.slice(0, -'.jsonl'.length))
  })

  it('also when its name is too long for a slug, which then ends in a hash', async () => {
    const workDir = `/srv/${'long_name/'.repeat(30)}end`
    const slug = workDir.replace(/[^a-zA-Z0-9]/g, '-').slice(0, 200)
    const { dir } = write(CHAIN, '-aaa')
    write(CHAIN, `${slug}-x-hrjgye`, dir)
    expect(await find(dir, workDir)).toBeNull()
    const { path } = write(CHAIN, `${slug}-hrjgye`, dir)
    mkdirSync(join(dir, 'projects', `${slug}-hrjgye`), { recursive: true })
    writeFileSync(join(dir, 'projects', `${slug}-hrjgye`, `${ID}.jsonl`), readFileSync(path))
    expect((await find(dir, workDir))?.transcript).toContain(`${slug}-hrjgye/`)
  })
})

describe('repairing', () => {
  const whole = `${CHAIN.join('\n')}\n`

  it.each<[string, string | Buffer]>([
    ['a record that was begun', '{"type":"us'],
    ['one larger than what is read at once', `{"type":"user","text":"${'x'.repeat(200_000)}`],
    ['one cut within a character', Buffer.from('{"text":"é').subarray(0, -1)],
    ['zeros', '\0'.repeat(5000)],
    ['a value that is no record', '17'],
  ])('removes %s, and keeps the original file', async (_, tail) => {
    const { path, inspect, dir } = write(whole)
    const torn = Buffer.concat([Buffer.from(whole), Buffer.from(tail)])
    writeFileSync(path, torn)
    chmodSync(path, 0o640)
    expect(await inspect()).toMatchObject({ state: 'torn' })
    const keepAs = join(dir, 'damaged', 'copy.jsonl')
    expect(await mendClaudeTranscript(path, keepAs)).toEqual({
      keptAs: keepAs,
      removedBytes: torn.length - whole.length,
    })
    expect(readFileSync(path, 'utf8')).toBe(whole)
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(readFileSync(keepAs).equals(torn)).toBe(true)
    expect(statSync(keepAs).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(path))).toEqual([`${ID}.jsonl`])
    expect(await inspect()).toMatchObject({ state: 'present' })
  })

  it.each([
    ['whole', whole],
    ['whole but for its newline', whole.trimEnd()],
    ['empty', ''],
    ['with garbage before its last newline', `${whole}garbage\n`],
  ])('does not change what is %s', async (_, text) => {
    const { path, dir } = write(text)
    expect(await mendClaudeTranscript(path, join(dir, 'damaged', 'copy.jsonl'))).toBeNull()
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(existsSync(join(dir, 'damaged'))).toBe(false)
  })

  it('does not overwrite an earlier copy, and then changes nothing', async () => {
    const { path, dir } = write(`${whole}{"torn`)
    const keepAs = join(dir, 'copy.jsonl')
    writeFileSync(keepAs, 'somebody’s work')
    await expect(mendClaudeTranscript(path, keepAs)).rejects.toThrow(/EEXIST/)
    expect(readFileSync(keepAs, 'utf8')).toBe('somebody’s work')
    expect(readFileSync(path, 'utf8')).toBe(`${whole}{"torn`)
  })

  it('follows a symlink, and overwrites what a crash left of an earlier try', async () => {
    const { path, dir } = write(`${whole}{"torn`)
    writeFileSync(join(dirname(path), `.${ID}.jsonl.mending`), 'half')
    const link = join(dir, 'link.jsonl')
    symlinkSync(path, link)
    expect(await mendClaudeTranscript(link, join(dir, 'copy.jsonl'))).not.toBeNull()
    expect(readFileSync(path, 'utf8')).toBe(whole)
    expect(readFileSync(link, 'utf8')).toBe(whole)
    expect(readdirSync(dirname(path))).toEqual([`${ID}.jsonl`])
  })
})
