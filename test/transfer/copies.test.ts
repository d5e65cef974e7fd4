/** Where a transcript can be cut, and what a copy of it contains. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeCopies } from '../../src/agents/claude/copies.ts'
import { forkSession } from '../../src/engine/transfer/fork.ts'
import { AGENT_SESSION_ID, answerId, Home, questionId, transcript } from './fixture.ts'

let home: Home
let path: string
beforeEach(() => {
  home = new Home()
  path = join(home.dir, 't.jsonl')
})
afterEach(() => home.close())

const TURNS = ['a', 'b', 'c'].map((name) => ({ question: `${name}?`, answer: `${name}!` }))
const write = (text: string) => writeFileSync(path, text)
const line = (record: object) => `${JSON.stringify(record)}\n`
const cut = (messageId: string, keep: 'turn' | 'message' = 'turn') =>
  claudeCopies.readPart(path, { messageId, keep })

describe('a part of a transcript', () => {
  it('is all of it without a point, except for an incomplete record', async () => {
    write(transcript(TURNS))
    const bytes = readFileSync(path).length
    appendFileSync(path, '{"type":"assistant","uuid":"to')
    expect(await claudeCopies.readPart(path, null)).toEqual({
      bytes,
      agentSessionId: AGENT_SESSION_ID,
      questions: [0, 1, 2].map(questionId),
      lastMessageId: answerId(2),
      costUsd: 0.3,
      contextTokens: 31,
    })
  })

  it('ends with the turn of a question, and knows nothing of the next one', async () => {
    write(transcript(TURNS))
    expect(await cut(questionId(1))).toMatchObject({
      bytes: Buffer.byteLength(transcript(TURNS.slice(0, 2))),
      questions: [questionId(0), questionId(1)],
      costUsd: 0.2,
      contextTokens: 21,
    })
    expect((await cut(questionId(2)))?.bytes).toBe(Buffer.byteLength(transcript(TURNS)))
  })

  it('ends right after a message that asks nothing, and after a question if only the message is kept', async () => {
    write(transcript(TURNS))
    const last = async (messageId: string, keep?: 'message') =>
      readFileSync(path)
        .subarray(0, (await cut(messageId, keep))?.bytes)
        .toString()
        .trimEnd()
        .split('\n')
        .at(-1)
    expect(JSON.parse((await last(answerId(1)))!).uuid).toBe(answerId(1))
    expect(JSON.parse((await last(questionId(1), 'message'))!).uuid).toBe(questionId(1))
  })

  it('is null if the message is missing, or is on a branch that was left', async () => {
    const other = { type: 'user', isSidechain: false, turnOrigin: 'sdk', sessionId: AGENT_SESSION_ID }
    // Somebody went back to the first answer and asked something else; then the left branch grew once more.
    const branch = line({
      ...other,
      uuid: 'x',
      parentUuid: answerId(0),
      message: { role: 'user', content: 'x?' },
    })
    const late = line({
      type: 'assistant',
      uuid: 'late',
      parentUuid: answerId(1),
      sessionId: AGENT_SESSION_ID,
      message: { role: 'assistant', content: [] },
    })
    write(`${transcript(TURNS.slice(0, 2))}${branch}${late}`)
    expect(await cut('missing')).toBeNull()
    expect(await cut('x')).toBeNull()
    expect(await cut('x', 'message')).not.toBeNull()
    write('')
    expect(await claudeCopies.readPart(path, null)).toBeNull()
  })

  it('does not take a tool result, a notice or a sub-agent for the next question', async () => {
    const within = [
      {
        type: 'user',
        uuid: 'r',
        parentUuid: answerId(0),
        message: { content: [{ type: 'tool_result', content: 'b?' }] },
      },
      {
        type: 'user',
        uuid: 's',
        parentUuid: 'r',
        isSidechain: true,
        turnOrigin: 'sdk',
        message: { content: 'sub' },
      },
      {
        type: 'user',
        uuid: 'n',
        parentUuid: 'r',
        turnOrigin: 'task_notification',
        message: { content: 'done' },
      },
      {
        type: 'assistant',
        uuid: 'z',
        parentUuid: 'n',
        message: { content: [{ type: 'text', text: 'a, later' }] },
      },
    ].map(line)
    const turn = `${transcript(TURNS.slice(0, 1))}${within.join('')}`
    write(
      `${turn}${transcript(TURNS)
        .slice(transcript(TURNS.slice(0, 1)).length)
        .replace(`"parentUuid":"${answerId(0)}"`, '"parentUuid":"z"')}`,
    )
    expect((await cut(questionId(0)))?.bytes).toBe(Buffer.byteLength(turn))
  })
})

describe('the position', () => {
  it('is the newest message that is complete, however long it is', async () => {
    const long = [{ question: 'q', answer: 'x'.repeat(3 << 20) }]
    write(transcript(long))
    expect(await claudeCopies.readPosition(path)).toBe(answerId(0))
    appendFileSync(path, '{"type":"user","uuid":"torn","message":{')
    expect(await claudeCopies.readPosition(path)).toBe(answerId(0))
    write('')
    expect(await claudeCopies.readPosition(path)).toBeNull()
    expect(await claudeCopies.readPosition(join(home.dir, 'missing'))).toBeNull()
  })
})

describe('a renamed line', () => {
  const rename = claudeCopies.rename('old', 'new')
  it('changes its session and nothing else, byte for byte', () => {
    const text = '{"sessionId":"old","text":"\\"sessionId\\":\\"old\\" \\u00e9","n":1.0}'
    expect(rename(text)).toBe(text.replace('"sessionId":"old"', '"sessionId":"new"'))
    expect(rename('{"sessionId":"other"}')).toBe('{"sessionId":"other"}')
    expect(rename('not json "sessionId":"old" "sessionId":"old"')).toContain('new')
  })
  it('leaves a field of that name in the input of a tool alone', () => {
    const input = { sessionId: 'old' }
    expect(JSON.parse(rename(JSON.stringify({ sessionId: 'old', input })))).toEqual({
      sessionId: 'new',
      input,
    })
    expect(JSON.parse(rename(JSON.stringify({ input, sessionId: 'old' })))).toEqual({
      input,
      sessionId: 'new',
    })
  })
})

describe('a fork', () => {
  const fork = (at?: string) => forkSession(home.deps(), AGENT_SESSION_ID, { at })
  const project = () => join(home.config, 'projects', home.workDir.replace(/[^a-zA-Z0-9]/g, '-'))

  it('is the session up to that turn under another id, with its folder; the original is untouched', async () => {
    home.addSession(TURNS, {
      'subagents/agent-1.jsonl': transcript(TURNS),
      'tool-results/a.txt': AGENT_SESSION_ID,
    })
    const made = await fork(questionId(1))
    const at = join(project(), made.agentSessionId)
    expect(readFileSync(`${at}.jsonl`, 'utf8')).toBe(transcript(TURNS.slice(0, 2), made.agentSessionId))
    expect(readFileSync(join(at, 'subagents/agent-1.jsonl'), 'utf8')).toBe(
      transcript(TURNS, made.agentSessionId),
    )
    expect(readFileSync(join(at, 'tool-results/a.txt'), 'utf8')).toBe(AGENT_SESSION_ID)
    expect(readFileSync(join(project(), `${AGENT_SESSION_ID}.jsonl`), 'utf8')).toBe(transcript(TURNS))
    expect(home.added[0]?.sessions[0]).toMatchObject({
      session: { turns: 2, costUsd: 0, contextTokens: 21, told: null },
      origin: { kind: 'fork', messageId: questionId(1), costUsd: 0.2 },
      questions: [questionId(0), questionId(1)],
      turns: [{ text: 'a?' }, { text: 'b?' }],
    })
  })

  it('that cannot be cut or stored leaves nothing', async () => {
    home.addSession(TURNS, { 'tool-results/a.txt': 'a' })
    const before = home.files()
    await expect(fork('nowhere')).rejects.toMatchObject({ code: 'session-unusable' })
    home.failure = new Error('the disk is full')
    await expect(fork()).rejects.toThrow('the disk is full')
    expect(home.files()).toEqual(before)
  })
})
