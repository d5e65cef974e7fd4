/**
 * Session files that are missing, damaged or not ours, on the real CLI: what the model was sent, and that no byte of
 * the user's files is lost. The history is in every request exactly once, from the session or from us (I5).
 */
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { ScenarioInput } from '../../src/simulator/scenario-types.ts'
import { killIfThere } from '../support/processes.ts'
import { sampleOf } from '../support/sample.ts'
import { transcriptHas, transcriptOf } from '../support/transcripts.ts'
import { until, World } from '../support/world.ts'

let world: World
/** Shared by all tests that damage only a session of their own. */
let shared: World | null = null
afterEach(() => (world === shared ? undefined : world.close()))
afterAll(() => shared?.close())

const WORK = {
  tool: 'Bash',
  input: { command: 'echo ran >> mark; until [ -e finished ]; do sleep 0.05; done', description: 'x' },
}
const SCENARIO: ScenarioInput = {
  name: 'damage',
  rules: [
    { when: '/^(alpha|beta|somebody.*)$/', reply: 'You said: $1' },
    {
      when: '/^begin the work$/',
      reply: [{ text: 'I begin.' }, WORK, { await: 'results' }, { text: 'Done at once.' }],
    },
    { reply: 'Indeed.' },
  ],
}

async function beginAlone(): Promise<World> {
  world = await World.create(SCENARIO)
  await world.startDaemon()
  return world
}

async function begin(): Promise<void> {
  world = shared ??= await beginAlone()
}

/** Two turns, so that there is something before the last one. */
async function twoTurns(): Promise<{ last: RunDetail; path: string }> {
  const first = await world.run({ prompt: 'alpha' })
  const last = await world.run({ prompt: 'beta', sessionId: first.session! })
  expect(last.resumed).toBe(true)
  return { last, path: transcriptOf(world.configDir, last.sessionId!) }
}

let unresumed: { last: RunDetail; path: string; whole: string } | null = null

/** Two turns in a session that no test resumes: all of them find its file as it was after the second turn. */
async function twoTurnsUnresumed(): Promise<{ last: RunDetail; path: string }> {
  if (unresumed === null) {
    const turns = await twoTurns()
    unresumed = { ...turns, whole: readFileSync(turns.path, 'utf8') }
  }
  await writeFile(unresumed.path, unresumed.whole)
  return unresumed
}

const sent = () => JSON.stringify(world.simulator.requests().at(-1)!.messages)
const count = (text: string, part: string) => text.split(part).length - 1

/** The request contains each question and each answer of the two turns once, from the session or from us. */
function expectHistoryOnce(): void {
  for (const word of ['alpha', 'beta']) {
    expect(count(sent(), `You said: ${word}`), `the answer to ${word}`).toBe(1)
    expect(count(sent(), word), `${word}, asked and answered`).toBe(2)
  }
}

/** Every file below the world, except the agents' raw output and the database. */
async function filesWith(bytes: string): Promise<string[]> {
  const found: string[] = []
  for (const root of [world.configDir, join(world.home, 'damaged')]) {
    for (const name of await readdir(root, { recursive: true }).catch((): string[] => [])) {
      const path = join(root, name)
      if ((await stat(path)).isFile() && (await readFile(path, 'utf8')) === bytes) found.push(path)
    }
  }
  return found
}

const lineOf = (lines: readonly string[], type: string, text: string) =>
  lines.findIndex((line) => line.includes(`"type":"${type}"`) && line.includes(text))

const KINDS: [string, string, (text: string) => string | null][] = [
  ['deleted, and its copy', 'transcript-missing', () => null],
  ['emptied', 'transcript-unreadable', () => ''],
  ['garbage', 'transcript-unreadable', () => '\0\0garbage\n{"not":"a message"}\n'],
  [
    'an older copy',
    'transcript-behind',
    (text) => {
      const lines = text.split('\n')
      return `${lines.slice(0, lineOf(lines, 'user', '"beta"')).join('\n')}\n`
    },
  ],
  [
    'cut off within the last answer',
    'transcript-behind',
    (text) => {
      const lines = text.split('\n')
      const at = lineOf(lines, 'assistant', 'beta')
      return `${lines.slice(0, at).join('\n')}\n${lines[at]!.slice(0, 100)}`
    },
  ],
  [
    'without its beginning',
    'transcript-broken',
    (text) => {
      const lines = text.split('\n')
      return lines.slice(lineOf(lines, 'user', '"beta"')).join('\n')
    },
  ],
  [
    'overwritten in the middle',
    'transcript-broken',
    (text) => {
      const lines = text.split('\n')
      const [from, to] = [lineOf(lines, 'assistant', 'alpha'), lineOf(lines, 'user', '"beta"')]
      return lines.map((line, i) => (i >= from && i < to ? '\0'.repeat(line.length) : line)).join('\n')
    },
  ],
]

const kinds = sampleOf(KINDS, ([, reason]) => [reason])
it.each(kinds)(
  '%s: found before the resume, new session with the history (%s)',
  async (_, reason, damage) => {
    await begin()
    const { last, path } = await twoTurnsUnresumed()
    const damaged = damage(readFileSync(path, 'utf8'))
    // A file that is gone would be restored from its copy.
    if (damaged === null)
      for (const gone of [path, join(world.home, 'mirror')]) await rm(gone, { recursive: true })
    else await writeFile(path, damaged)
    const asked = world.simulator.requests().length
    const next = await world.run({ prompt: 'gamma', sessionId: last.session! })
    expect(next).toMatchObject({
      outcome: 'completed',
      resumed: false,
      freshReason: reason,
      carry: 'transcript',
      attemptCount: 1,
    })
    expect(world.simulator.requests()).toHaveLength(asked + 1)
    expectHistoryOnce()
    // The damaged file is left unchanged, because it may be the user's only copy.
    if (damaged !== null) expect(await filesWith(damaged)).toEqual([path])
  },
)

it("another session's file under our id: new session with our history, and none of the other's", async () => {
  await begin()
  const { last, path } = await twoTurnsUnresumed()
  const other = await world.run({ prompt: 'somebody else asks about heliotropes' })
  await copyFile(transcriptOf(world.configDir, other.sessionId!), path)
  const copied = readFileSync(path, 'utf8')
  const next = await world.run({ prompt: 'gamma', sessionId: last.session! })
  expect(next).toMatchObject({ outcome: 'completed', resumed: false, freshReason: 'transcript-foreign' })
  expectHistoryOnce()
  expect(sent()).not.toContain('heliotropes')
  expect(await filesWith(copied)).toHaveLength(2)
})

it('a session in two project folders: the one of the work directory is used', async () => {
  await begin()
  const { last, path } = await twoTurns()
  const elsewhere = join(world.configDir, 'projects', '-aaa-elsewhere')
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, `${last.sessionId}.jsonl`), 'a copy that is none\n')
  const next = await world.run({ prompt: 'gamma', sessionId: last.session! })
  expect(next).toMatchObject({ outcome: 'completed', resumed: true, sessionId: last.sessionId })
  expectHistoryOnce()
  const { transcript } = await world.api<{ transcript: object }>('GET', `/api/sessions/${last.session}`)
  expect(transcript).toMatchObject({ state: 'present', path })
})

describe('an incomplete last record', () => {
  const TEARS: [string, (text: string) => string][] = [
    ['a record that was begun', (text) => `${text}{"parentUuid":"x","type":"us`],
    ['zeros', (text) => text + '\0'.repeat(4096)],
    ['the last record, cut in a character', (text) => `${text}{"type":"note","text":"\u00e9`.slice(0, -1)],
  ]
  const tears = sampleOf(TEARS, () => ['torn'])
  it.each(tears)('is removed, the original is kept, and the session is resumed: %s', async (_, tear) => {
    await begin()
    const { last, path } = await twoTurns()
    const whole = readFileSync(path, 'utf8')
    const torn = tear(whole)
    await writeFile(path, torn)
    const next = await world.run({ prompt: 'gamma', sessionId: last.session! })
    expect(next).toMatchObject({ outcome: 'completed', resumed: true, sessionId: last.sessionId })
    expectHistoryOnce()
    const after = readFileSync(path, 'utf8')
    expect(after.startsWith(whole)).toBe(true)
    for (const line of after.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
    const [kept, ...more] = await filesWith(torn)
    expect(more).toEqual([])
    expect(dirname(kept!)).toBe(join(world.home, 'damaged'))
    expect((await stat(kept!)).mode & 0o777).toBe(0o600)
    const notes = (await world.events(next.id)).flatMap((e) => (e.type === 'note' ? [e.text] : []))
    expect(notes.join()).toContain(kept)
  })

  it('that cannot be repaired does not stop the run: the CLI skips it', async () => {
    await beginAlone()
    const { last, path } = await twoTurns()
    const torn = `${readFileSync(path, 'utf8')}{"torn`
    await writeFile(path, torn)
    await writeFile(join(world.home, 'damaged'), 'in the way')
    const next = await world.run({ prompt: 'gamma', sessionId: last.session! })
    expect(next).toMatchObject({ outcome: 'completed', resumed: true })
    expectHistoryOnce()
    expect(readFileSync(path, 'utf8').startsWith(torn)).toBe(true)
  })
})

describe('between two attempts of one run', () => {
  /** The agent dies mid-tool; its file is changed before the next attempt reads it. */
  async function killedWith(change: (path: string) => Promise<void>): Promise<RunDetail> {
    await begin()
    for (const name of ['mark', 'finished']) await rm(join(world.workDir, name), { force: true })
    const { id } = await world.createRun({ prompt: 'begin the work', permissions: 'allow' })
    await until(() => existsSync(join(world.workDir, 'mark')), 'the tool')
    const path = await transcriptHas(world, id, '"tool_use"')
    await world.killDaemon()
    for (const { pid } of world.agents()) killIfThere(pid)
    await until(() => !world.processes().some((p) => / -p /.test(p.command)), 'the agent to be gone')
    await change(path)
    await writeFile(join(world.workDir, 'finished'), '')
    await world.startDaemon()
    return world.settled(id)
  }

  it('incomplete last record: resumed, with all but that record', async () => {
    let torn = ''
    const run = await killedWith(async (path) => {
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
      const at = lineOf(lines, 'assistant', '"type":"tool_use"')
      torn = `${lines.slice(0, at).join('\n')}\n${lines[at]!.slice(0, 150)}`
      await writeFile(path, torn)
    })
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
    // Once in the history, and once in the message to the agent, which contains what the file has lost.
    expect(count(sent(), 'I begin.')).toBe(2)
    expect(sent()).not.toContain('"type":"tool_use"')
    expect(sent()).toContain('echo ran >> mark')
    expect(await filesWith(torn)).toHaveLength(1)
    expect(readFileSync(join(world.workDir, 'mark'), 'utf8')).toBe('ran\n')
  })

  it('unreadable: a new session, with a handoff', async () => {
    let broken = ''
    const run = await killedWith(async (path) => {
      const lines = readFileSync(path, 'utf8').split('\n')
      broken = lines.filter((line) => !line.includes('"type":"attachment"')).join('\n')
      await writeFile(path, broken)
    })
    expect(run).toMatchObject({
      outcome: 'completed',
      attemptCount: 2,
      resumed: false,
      freshReason: 'transcript-broken',
      carry: 'handoff',
    })
    expect(sent()).toContain('echo ran >> mark')
    expect(count(sent(), 'begin the work')).toBe(1)
    expect(await filesWith(broken)).toHaveLength(1)
  })
})
