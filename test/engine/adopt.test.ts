/** Which sessions are adopted, and what is reported about the others. The files are like those of the real CLI. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import type { AgentRegistry } from '../../src/agents/registry.ts'
import { ConversationId } from '../../src/contract/ids.ts'
import { type AdoptEngine, createAdoption } from '../../src/engine/adopt/adopt.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryDir } from '../agents/temporary-dir.ts'
import { newSession } from '../store/records.ts'
import { SkippingClock } from '../support/memory/clock.ts'
import { openStore } from '../support/memory/store.ts'

let dir: string
let workDir: string
let store: Store
let engine: AdoptEngine

beforeEach(async () => {
  dir = temporaryDir()
  workDir = join(dir, 'work')
  mkdirSync(workDir)
  store = await openStore(join(dir, 'reprise.db'))
  onTestFinished(() => store.close())
  const agent = { name: 'claude', adapter: claudeAdapter, env: { CLAUDE_CONFIG_DIR: join(dir, 'claude') } }
  const agents = {
    defaultName: 'claude',
    get: () => agent,
    runtime: async () => ({ runtimeId: 'rt' }),
  } as unknown as AgentRegistry
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  engine = createAdoption({ store, agents, clock: new SkippingClock(), log })
})

type Line = Record<string, unknown>

/** A session of the CLI, of which each record follows the one before. */
class Written {
  readonly id: string = randomUUID()
  readonly lines: Line[] = []
  newest: string | null = null

  add(type: string, message: unknown, more: Line = {}): string {
    const uuid = randomUUID()
    const base = { parentUuid: this.newest, isSidechain: false, type, message, uuid, sessionId: this.id }
    this.lines.push({ ...base, timestamp: '2026-03-01T10:00:00Z', cwd: workDir, version: '2.1.300', ...more })
    this.newest = uuid
    return uuid
  }

  ask(text: string, more: Line = {}): string {
    return this.add('user', { role: 'user', content: text }, { turnOrigin: 'human', ...more })
  }

  answer(text: string): string {
    const usage = { input_tokens: 5, cache_read_input_tokens: 90, output_tokens: 5 }
    const content = [{ type: 'text', text }]
    return this.add('assistant', {
      role: 'assistant',
      model: 'haiku',
      content,
      usage,
      stop_reason: 'end_turn',
    })
  }

  /** Returns the path. */
  write(text = this.lines.map((line) => `${JSON.stringify(line)}\n`).join(''), of = workDir, name = this.id) {
    const slug = of.replace(/[^a-zA-Z0-9]/g, '-')
    const path = join(dir, 'claude', 'projects', slug, `${name}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
}

function talk(...texts: string[]): Written {
  const session = new Written()
  for (const text of texts) {
    session.ask(text)
    session.answer(`re: ${text}`)
  }
  return session
}

const adopt = (...ids: string[]) => engine.adoptSessions({ ids })

async function textsOf(conversationId: string | null): Promise<string[]> {
  const messages = await store.listMessages(conversationId as never)
  return messages.map(({ blocks }) => blocks.map((b) => (b.type === 'text' ? b.text : b.type)).join(' '))
}

/** Nothing at all may be stored about it. */
async function expectNothing(): Promise<void> {
  expect((await store.listSessions({ limit: 9 })).items).toEqual([])
  expect((await store.listConversations({ limit: 9 })).items).toEqual([])
}

test('an adopted session has its turns, its pin and its metadata; the file stays as it was', async () => {
  const session = talk('one', 'two')
  const path = session.write()
  const before = readFileSync(path, 'utf8')
  const [report] = await adopt(session.id)
  expect(report).toMatchObject({ state: 'adopted', turns: 2, workDir, path, bytes: before.length })
  expect(await textsOf(report!.conversationId)).toEqual(['one', 're: one', 'two', 're: two'])
  expect(await store.getPin(report!.conversationId!, 'claude')).toMatchObject({
    sessionId: report!.session,
    sessionEpoch: 0,
    epoch: 0,
    seenTurn: 2,
  })
  expect(await store.getSession(report!.session!)).toMatchObject({
    agentSessionId: session.id,
    state: 'paused',
    adopted: true,
    turns: 2,
    messages: 4,
    contextTokens: 100,
    stopReason: 'end_turn',
    runtime: { version: '2.1.300', command: null },
  })
  expect(readFileSync(path, 'utf8')).toBe(before)
})

test('adopting twice does nothing twice, also at the same time', async () => {
  const session = talk('one')
  session.write()
  const reports = (await Promise.all([adopt(session.id), adopt(session.id)])).flat()
  expect(reports.map(({ state }) => state).sort()).toEqual(['adopted', 'known'])
  expect(await adopt(session.id)).toMatchObject([{ state: 'known', session: reports[0]!.session }])
  expect((await store.listConversations({ limit: 9 })).items).toHaveLength(1)
})

test('only the branch that a resume continues becomes the conversation; the rest is known and not found again', async () => {
  const session = talk('one')
  const fork = session.newest
  session.ask('dropped')
  session.answer('re: dropped')
  session.newest = fork
  session.ask('kept')
  session.answer('re: kept')
  session.write()
  const [report] = await adopt(session.id)
  expect(await textsOf(report!.conversationId)).toEqual(['one', 're: one', 'kept', 're: kept'])
  const knownIds = new Set(await store.listOutsideIds(report!.session!))
  expect(knownIds.size).toBe(3)
  const { outside, state } = await claudeAdapter.inspectTranscript(
    session.id,
    { CLAUDE_CONFIG_DIR: join(dir, 'claude') },
    { workDir, ownIds: new Set(), knownIds },
  )
  expect({ outside, state }).toEqual({ outside: [], state: 'present' })
})

test('a compaction, tool calls, sub-agents, notices and a torn last record', async () => {
  const session = talk('one')
  const before = session.newest
  session.newest = null
  session.add('system', undefined, { subtype: 'compact_boundary', logicalParentUuid: before })
  session.add('user', { content: 'This session is continued…' }, { isCompactSummary: true })
  session.add('user', { content: '<local-command-stdout>x</local-command-stdout>' })
  session.ask('two')
  const use = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }
  session.add('assistant', { content: [use] })
  session.add('user', { content: 'inner question' }, { isSidechain: true })
  session.newest = session.lines.at(-2)!.uuid as string
  session.add('user', { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a b' }] })
  session.answer('re: two')
  session.write(`${session.lines.map((line) => `${JSON.stringify(line)}\n`).join('')}{"parentUuid":"half`)
  const [report] = await adopt(session.id)
  expect(report).toMatchObject({ state: 'adopted', turns: 2 })
  expect(await textsOf(report!.conversationId)).toEqual([
    'one',
    're: one',
    'two',
    'tool-use tool-result re: two',
  ])
})

describe('left alone, with a reason, and nothing stored', () => {
  const cases: [string, () => Written, string][] = [
    ['an empty file', () => written(''), 'nothing was said in it'],
    ['garbage', () => written('\u0000\u0001 no json\n{"half'), 'damaged: it contains no readable record'],
    ['only notes', () => written('{"type":"mode","mode":"x"}\n'), 'nothing was said in it'],
    ['a summary', () => written('{"type":"summary","summary":"x","leafUuid":"y"}\n'), 'only a summary'],
    ['a sub-agent', () => sidechain(), 'transcript of a sub-agent'],
    ['a hole in the middle', () => hole(), 'messages in the middle are missing'],
    ['a directory that is gone', () => elsewhere(), 'does not exist'],
    ['messages of another session', () => foreign(), 'only messages of another session'],
    ['no directory', () => nowhere(), 'does not say in which directory'],
  ]
  const written = (text: string) => {
    const session = new Written()
    session.write(text)
    return session
  }
  const sidechain = () => {
    const session = new Written()
    session.ask('inner', { isSidechain: true })
    session.write()
    return session
  }
  const hole = () => {
    const session = talk('one', 'two')
    session.lines.splice(1, 1)
    session.write()
    return session
  }
  const foreign = () => {
    const session = talk('one')
    for (const line of session.lines) line.sessionId = randomUUID()
    session.write()
    return session
  }
  const nowhere = () => {
    const session = talk('one')
    for (const line of session.lines) delete line.cwd
    session.write()
    return session
  }
  const elsewhere = () => {
    const gone = join(dir, 'gone')
    const session = talk('one')
    for (const line of session.lines) line.cwd = gone
    session.write(undefined, gone)
    return session
  }
  test.each(cases)('%s', async (_, make, reason) => {
    const session = make()
    const [report] = await adopt(session.id)
    expect(report).toMatchObject({ state: 'unusable', session: null, conversationId: null })
    expect(report!.message).toContain(reason)
    await expectNothing()
  })

  test('an id that is not there, one in two directories, and the transcript of an older sub-agent', async () => {
    const session = talk('one')
    session.write()
    session.write(undefined, '/srv/copy')
    session.write(undefined, workDir, 'agent-a1b2c3')
    const reports = await adopt('11111111-2222-4333-8444-555555555555', session.id, 'agent-a1b2c3')
    expect(reports.map(({ state, message }) => [state, message])).toEqual([
      ['unusable', expect.stringContaining('no session with this id')],
      ['unusable', expect.stringContaining('several directories')],
      ['unusable', expect.stringContaining('sub-agent')],
    ])
    await expectNothing()
  })

  test('a file that fails while it is imported', async () => {
    const session = talk('one', 'two')
    session.write()
    const failing = {
      ...store,
      adoptSession: (adoption: Parameters<Store['adoptSession']>[0]) =>
        store.adoptSession({
          ...adoption,
          turns: (async function* () {
            for await (const turn of adoption.turns) {
              yield turn
              throw new Error('read error')
            }
          })(),
        }),
    }
    const agent = { name: 'claude', adapter: claudeAdapter, env: { CLAUDE_CONFIG_DIR: join(dir, 'claude') } }
    const agents = { defaultName: 'claude', get: () => agent, runtime: async () => ({ runtimeId: 'rt' }) }
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const other = createAdoption({
      store: failing,
      agents: agents as unknown as AgentRegistry,
      clock: new SkippingClock(),
      log,
    })
    expect(await other.adoptSessions({ ids: [session.id] })).toMatchObject([
      { state: 'unusable', message: expect.stringContaining('read error') },
    ])
    await expectNothing()
    expect(await adopt(session.id)).toMatchObject([{ state: 'adopted', turns: 2 }])
  })
})

test('lists newest first, in pages, by directory, with first prompt, age and size; large files by their ends', async () => {
  const sessions = ['a', 'b', 'c'].map((text, index) => {
    const session = talk(text)
    session.lines.splice(1, 0, { type: 'note', text: 'x'.repeat(300_000) })
    const path = session.write()
    utimesSync(path, 1000 + index, 1000 + index)
    return session
  })
  const first = await engine.listAdoptable({ limit: 2 })
  expect(first.items).toMatchObject([
    { firstPrompt: 'c', state: 'adoptable', workDir, modifiedAt: '1970-01-01T00:16:42.000Z' },
    { firstPrompt: 'b' },
  ])
  expect(first.items[0]!.bytes).toBeGreaterThan(300_000)
  const rest = await engine.listAdoptable({ limit: 2, cursor: first.nextCursor! })
  expect(rest).toMatchObject({ items: [{ firstPrompt: 'a' }], nextCursor: null })
  await adopt(sessions[0]!.id)
  expect((await engine.listAdoptable({ limit: 9 })).items.map(({ state }) => state)).toEqual([
    'adoptable',
    'adoptable',
    'known',
  ])
  expect((await engine.listAdoptable({ limit: 9, workDir: dir })).items).toEqual([])
  expect(await engine.adoptSessions({ workDir })).toMatchObject([
    { state: 'adopted' },
    { state: 'adopted' },
    { state: 'known' },
  ])
  await expect(engine.listAdoptable({ limit: 2, cursor: 'x' })).rejects.toMatchObject({ code: 'bad-request' })
})

test('a file that disappears between list and look is reported', async () => {
  const session = talk('one')
  rmSync(session.write())
  expect(await adopt(session.id)).toMatchObject([{ state: 'unusable' }])
})

test('sessions in the private folder of a sandboxed session are not offered, whatever the agent wrote there', async () => {
  const own = talk('made by Reprise')
  own.write()
  const [{ session } = { session: null }] = await adopt(own.id)
  expect(session).not.toBeNull()
  const forged = talk('forged')
  forged.write(undefined, `${workDir}-${own.id}`)
  const ordinary = talk('in a directory with such a name')
  ordinary.write(undefined, `${workDir}-${randomUUID()}`)
  const { items } = await engine.listAdoptable({ limit: 9 })
  const ids = items.map(({ agentSessionId }) => agentSessionId)
  expect(ids).toContain(ordinary.id)
  expect(ids).not.toContain(forged.id)
  expect(await adopt(forged.id)).toMatchObject([{ state: 'unusable' }])
})

describe('a long history', () => {
  const LONG = 'x'.repeat(400_000)
  const turn = (text: string) => ({
    id: randomUUID(),
    text,
    saidAt: null,
    answer: [{ type: 'text' as const, text: LONG }],
    inSession: true,
  })
  const adoption = (turns: AsyncIterable<ReturnType<typeof turn>>) => {
    const at = new Date()
    return {
      session: { ...newSession({ workDir, createdAt: at, lastUsedAt: at }), stopReason: null },
      conversation: {
        id: ConversationId.create(at),
        title: '',
        agent: 'claude',
        workDir,
        instructions: null,
        historyScope: 'shared' as const,
        createdAt: at,
      },
      turns,
      at,
    }
  }

  test('is read outside of the transactions: others write meanwhile, and nobody sees half of it', async () => {
    const long = adoption(read())
    async function* read() {
      for (let n = 0; n < 9; n++) {
        yield turn(`question ${n}`)
        await store.putFact('written meanwhile', String(n))
        expect(await store.getConversation(long.conversation.id)).toBeNull()
        expect(await store.getSession(long.session.id)).toBeNull()
      }
    }
    expect(await store.adoptSession(long)).toEqual({ kind: 'adopted', turns: 9 })
    expect(await store.listMessages(long.conversation.id)).toHaveLength(18)
    expect(await store.getConversation(long.conversation.id)).toMatchObject({ title: 'question 0' })
  })

  test('that cannot be read to its end leaves nothing', async () => {
    const long = adoption(read())
    async function* read() {
      for (let n = 0; n < 5; n++) yield turn(`question ${n}`)
      throw new Error('the file is gone')
    }
    await expect(store.adoptSession(long)).rejects.toThrow('the file is gone')
    expect(await store.listMessages(long.conversation.id)).toEqual([])
    expect(await store.listOutsideIds(long.session.id)).toEqual([])
  })

  test('of which the daemon dies is deleted by the next one', async () => {
    const long = adoption(read())
    let died = () => {}
    const half = new Promise<void>((resolve) => {
      died = resolve
    })
    async function* read() {
      for (let n = 0; n < 5; n++) yield turn(`question ${n}`)
      died()
      await new Promise(() => {})
    }
    void store.adoptSession(long)
    await half
    expect(await store.listMessages(long.conversation.id)).not.toEqual([])
    await store.forgetStaged()
    expect(await store.listMessages(long.conversation.id)).toEqual([])
    expect(await store.listOutsideIds(long.session.id)).toEqual([])
    await expectNothing()
  })

  test('is read only as far back as it is needed', async () => {
    const session = talk(...Array.from({ length: 50 }, (_, n) => `question ${n}`))
    const fork = session.newest
    session.ask('dropped')
    session.newest = fork
    session.ask('the last')
    const path = session.write()
    const read = async (limits: { turns: number; chars: number }) => {
      const texts = []
      for await (const { text } of claudeAdapter.existing!.readTurns({ path }, limits)) texts.push(text)
      return texts
    }
    expect(await read({ turns: 3, chars: 1e9 })).toEqual(['question 48', 'question 49', 'the last'])
    expect(await read({ turns: 99, chars: 1e9 })).toHaveLength(51)
    expect(await read({ turns: 99, chars: 1 })).toEqual(['the last'])
    expect((await read({ turns: 99, chars: 1000 })).length).toBeLessThan(20)
  })
})
