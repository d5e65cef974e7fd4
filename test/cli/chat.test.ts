/** `reprise chat` with a real daemon and a real agent, which talks to a scripted model. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Conversation, ConversationDetail } from '../../src/contract/conversation.ts'
import type { Page } from '../../src/contract/http.ts'
import type { Run } from '../../src/contract/run.ts'
import type { RunMessage } from '../../src/contract/run-message.ts'
import type { Stats } from '../../src/contract/stats.ts'
import { QUESTION } from '../support/question.ts'
import { REPRISE, World } from '../support/world.ts'
import { type Cli, createCli } from './cli.ts'
import { openPty } from './pty.ts'
import { KEYS, openChat } from './terminal-double.ts'

let world: World
let cli: Cli
beforeAll(async () => {
  world = await World.create(
    {
      rules: [
        { when: /HOLD$/, reply: [{ text: 'Thinking.' }, { hold: 'gate' }, { text: ' Went on.' }] },
        {
          when: /TOOL$/,
          reply: [
            { tool: 'Bash', input: { command: 'touch made' } },
            { await: 'results' },
            { text: 'Result: ${toolResult}' },
          ],
        },
        {
          when: /COLOUR$/,
          reply: [
            { tool: 'AskUserQuestion', input: { questions: [QUESTION] } },
            { await: 'results' },
            { text: 'Result: ${toolResult}' },
          ],
        },
        {
          when: /WAIT$/,
          reply: [
            { tool: 'Bash', input: { command: 'until [ -e go ]; do sleep 0.1; done', description: 'wait' } },
            { await: 'results' },
            { text: 'Waited.' },
            { hold: 'end' },
          ],
        },
        { when: /BREAK$/, reply: [{ error: { status: 400, message: 'no such thing' } }] },
        { reply: 'Noted.' },
      ],
    },
    { agents: { claude: { model: 'haiku' }, other: { adapter: 'claude', model: 'haiku' } } },
  )
  await world.startDaemon()
  cli = createCli(world.env)
})
afterAll(async () => {
  await cli.close()
  await world.close()
})

const newest = async () =>
  (await cli.inside(['conversations', '--json', '--limit', '1'])).json<Page<Conversation>>().items[0]!
const detail = (id: string) => world.api<ConversationDetail>('GET', `/api/conversations/${id}`)
const chat = (...args: string[]) => cli.inside(['chat', ...args])
const begin = (...args: string[]) => chat('--cwd', world.workDir, ...args)
const open = (...args: string[]) => openChat(args, { env: world.env, cwd: world.workDir })
/** The last thing the model was sent. */
const lastRequest = () => world.simulator.requests().at(-1)!
const sent = () => JSON.stringify(lastRequest().messages)
const texts = async (id: string) =>
  (await detail(id)).messages.map(({ role, blocks }) =>
    [role, ...blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))].join(': '),
  )

describe('one message', () => {
  test('the answer on stdout; the next one resumes and sends only what is new', async () => {
    // As a process of its own; the other tests run commands in this process.
    const first = await cli.run(['chat', '--cwd', world.workDir, '-m', 'remember heliotrope'])
    expect([first.code, first.stdout]).toEqual([0, 'Noted.\n'])
    expect(first.stderr).toMatch(/^new session · in .* uncached, .* cached/m)
    const { id } = await newest()
    expect(first.stderr).toContain(`continue with: reprise chat ${id}`)

    const second = await chat(id, '-m', 'what was it?')
    expect([second.code, second.stdout]).toEqual([0, 'Noted.\n'])
    expect(second.stderr).toMatch(/^resumed session · /m)
    expect(lastRequest().userText).toContain('what was it?')
    expect(lastRequest().userText).not.toContain('heliotrope')
    expect(sent().split('remember heliotrope')).toHaveLength(2)

    const third = await chat('last', '--fresh-session', '-m', 'anew')
    expect(third.stderr).toMatch(/^new session \(requested\), with the history/m)
    expect(lastRequest().userText).toContain('remember heliotrope')
    expect((await detail(id)).turnCount).toBe(3)
  })

  test('from stdin; with instructions from a file', async () => {
    writeFileSync(join(cli.workDir, 'be.md'), 'Answer in verse.')
    const { code, stdout } = await cli.run(['chat', '--cwd', world.workDir, '--instructions', 'be.md'], {
      stdin: 'two\nlines\n',
    })
    expect([code, stdout]).toEqual([0, 'Noted.\n'])
    expect(lastRequest().userText).toContain('two\nlines')
    expect(lastRequest().userText).toContain('Answer in verse.')
  })

  test('--json: events, then the conversation, then the run, and nothing else', async () => {
    const { code, stdout } = await begin('--json', '--scope', 'agent', '-m', 'hello')
    expect(code).toBe(0)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; seq?: number; id?: string })
    const [conversation, run] = lines.splice(-2)
    expect(lines.map((event) => event.seq)).toEqual(lines.map((_, index) => index + 1))
    expect(lines.at(-1)?.type).toBe('run-end')
    expect(conversation).toMatchObject({ type: 'conversation', turnCount: 1, historyScope: 'agent' })
    expect(run).toMatchObject({
      type: 'run',
      outcome: 'completed',
      resultText: 'Noted.',
      conversationId: conversation?.id,
    })
  })

  test('another agent gets the history; failing exits with 1', async () => {
    const { id } = await newest()
    const other = await chat(id, '--agent', 'other', '-m', 'and you?')
    expect(other.code).toBe(0)
    expect(other.stderr).toMatch(/^new session /m)
    const { agents } = await detail(id)
    expect(agents.map(({ agent }) => agent)).toEqual(['claude', 'other'])

    const broken = await chat(id, '-m', 'BREAK')
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('api-error')])
  })

  test('a question is told on stderr and answered by another command', async () => {
    const running = cli.start(['chat', '--cwd', world.workDir, '--permissions', 'ask-all', '-m', 'TOOL'])
    await running.says('answer with: reprise runs answer run_')
    const [run] = (await cli.inside(['runs', '--json', '--limit', '1'])).json<Page<Run>>().items
    expect((await cli.inside(['runs', 'answer', run!.id, '--allow'])).code).toBe(0)
    expect(await running.result).toMatchObject({ code: 0, stdout: expect.stringContaining('Result:') })
  })

  test('Ctrl-C cancels it and exits with 130', async () => {
    const running = cli.start(['chat', '--cwd', world.workDir, '-m', 'HOLD'])
    await running.says('Thinking.')
    running.kill('SIGINT')
    expect(await running.result).toMatchObject({ code: 130, stderr: expect.stringMatching(/^cancelled · /m) })
    const { messages } = await detail((await newest()).id)
    expect(messages.map(({ state }) => state)).toEqual(['complete', 'cancelled'])
  })

  test('refusals', async () => {
    const unknown = 'cnv_01J00000000000000000000000'
    expect(await chat(unknown, '-m', 'x')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `error: there is no conversation ${unknown}\nhint: List them with: reprise conversations\n`,
    })
    expect((await chat(unknown, '--json', '-m', 'x')).json()).toMatchObject({ error: { code: 'not-found' } })
    expect((await begin('--agent', 'nobody', '-m', 'x')).code).toBe(4)
    expect((await chat('--cwd', '/nowhere', '-m', 'x')).code).toBe(1)
    expect((await chat('last', '--model', '--help', '-m', 'x')).code).toBe(2)
  })
})

describe('on a terminal', () => {
  test('talks, edits, drops, retries, switches, and says how to go on', async () => {
    const { enter, shows, type, code, screen } = await open()
    await shows('New conversation ')
    await shows('claude › ')
    const { id } = await newest()

    expect(await enter('/history')).toContain('there are no messages yet')
    expect(await enter('alpha')).toMatch(/Noted\.\s+new session · /)
    expect(await enter('beta')).toMatch(/Noted\.\s+resumed session · in /)
    expect(await enter('/histroy')).toMatch(
      /unknown command \/histroy, nothing was sent\s+hint: Did you mean \/history/,
    )
    expect(await enter('/edit 1 ALPHA')).toContain('changed message 1; ask again with /retry 1')
    expect(await enter('/history')).toMatch(/1 you {5}ALPHA \(edited\)\s+2 claude {2}Noted\.\s+3 you {5}beta/)
    expect(await enter('gamma')).toContain('new session (the history was changed), with the history')
    expect(sent()).toContain('ALPHA')
    expect(sent()).not.toContain('alpha')

    expect(await enter('/retry 3')).toContain('new session (the history was changed)')
    expect(await texts(id)).toEqual(['user: ALPHA', 'assistant: Noted.', 'user: beta', 'assistant: Noted.'])
    expect(await enter('/drop 3')).toContain('removed 2 messages')
    expect(await enter('/drop 3')).toMatch(/there is no message 3\s+hint: There are 2/)

    expect(await enter('/instructions Rhyme.')).toContain('sent with the next turn')
    expect(await enter('/instructions')).toContain('Rhyme.')
    expect(await enter('//slash')).toContain('Noted.')
    expect(lastRequest().userText).toContain('Rhyme.')
    expect((await texts(id)).at(-2)).toBe('user: /slash')
    expect(await enter('/instructions -')).toContain('instructions removed')
    expect(await enter('/title A name')).toContain('renamed')
    expect(await detail(id)).toMatchObject({ title: 'A name', instructions: null })

    await enter('/fresh', 'claude (new session) › ')
    expect(await enter('delta')).toContain('new session (requested), with the history')
    expect(await enter('/agent nobody')).toMatch(
      /there is no agent nobody\s+hint: Known agents: claude, other/,
    )
    await enter('/agent other', 'other › ')
    expect(await enter('epsilon', 'other › ')).toContain('new session (')
    expect(sent()).toContain('ALPHA')
    expect(await enter('/info', 'other › ')).toMatch(
      / {2}claude .*session ses_\w+, has seen turn 3 \(epoch \d+\)\s+other .*ses_/,
    )

    type(KEYS.ctrlD)
    expect(await code).toBe(0)
    expect(screen()).toContain(`Continue with: reprise chat ${id}`)
  })

  test('Ctrl-C cancels the turn and not the chat; a second one leaves', async () => {
    const { enter, shows, type, interrupt, code, screen } = await open()
    await shows('claude › ')
    type(`HOLD${KEYS.enter}`)
    await shows('Thinking.')
    interrupt()
    await shows('cancelling the run')
    await shows('cancelled · new session')
    await shows('claude › ')
    expect(await enter('still there?')).toMatch(/Noted\.\s+(resumed|new) session/)
    expect(sent()).toContain('Thinking.')

    type(`HOLD${KEYS.enter}`)
    await shows('Thinking.')
    interrupt()
    interrupt()
    expect(await code).toBe(130)
    expect(screen()).toMatch(/Continue with: reprise chat cnv_\w+\s*$/)
    const { id } = await newest()
    const { messages } = await detail(id)
    await world.settled(messages.findLast(({ role }) => role === 'user')!.runId!)
    expect((await detail(id)).messages.at(-1)?.state).toBe('cancelled')
  })

  test('one in which nothing was said is not kept', async () => {
    const before = await newest()
    const { shows, type, code } = await open()
    await shows('claude › ')
    expect((await newest()).id).not.toBe(before.id)
    type(KEYS.ctrlC)
    await shows('(press Ctrl-C again or Ctrl-D to leave')
    await shows('claude › ')
    type(KEYS.ctrlC)
    expect(await code).toBe(0)
    expect((await newest()).id).toBe(before.id)
  })

  test('questions and permissions are answered in place', async () => {
    const { shows, type, code } = await open('--permissions', 'ask')
    await shows('claude › ')
    type(`COLOUR${KEYS.enter}`)
    await shows('2) Blue')
    await shows('your answer')
    type(`2${KEYS.enter}`)
    await shows('Blue')
    await shows('claude › ')
    type(`TOOL${KEYS.enter}`)
    await shows('allow Bash')
    await shows('  command: touch made')
    await shows('allow?')
    type(`not now${KEYS.enter}`)
    await shows('Result: ')
    expect(await shows('claude › ')).toContain('not now')

    // Ctrl-D leaves the question to someone else, and the chat goes on when it is answered.
    type(`TOOL${KEYS.enter}`)
    await shows('allow?')
    type(KEYS.ctrlD)
    await shows('answer with: reprise runs answer run_')
    const [run] = (await cli.inside(['runs', '--json', '--limit', '1'])).json<Page<Run>>().items
    expect(
      (await cli.inside(['runs', 'answer', run!.id, '--deny', '--message', 'from elsewhere'])).code,
    ).toBe(0)
    await shows('Result: ')
    expect(await shows('claude › ')).toContain('from elsewhere')
    type(`/quit${KEYS.enter}`)
    expect(await code).toBe(0)
  })

  test('an answer under way is followed; kill -9 of the daemon does not end the chat', async () => {
    const { id } = await world.api<Conversation>('POST', '/api/conversations', { workDir: world.workDir })
    await world.api('POST', `/api/conversations/${id}/turns`, { text: 'HOLD' })
    await world.simulator.waitForHold('gate')
    const { enter, shows, type, code } = await open(id)
    await shows('the last answer is still running')
    await shows('Thinking.')
    await world.killDaemon()
    await shows('lost the connection to the daemon')
    await world.startDaemon()
    world.simulator.release('gate')
    await shows('Went on.')
    await shows('claude › ')
    // And while it waits for the user.
    await world.killDaemon()
    await world.startDaemon()
    expect(await enter('and now?')).toMatch(/Noted\.\s+resumed/)
    type(KEYS.ctrlD)
    expect(await code).toBe(0)
  })
})

test('in a real terminal: lines typed during a turn are told to the model once, in this turn', async () => {
  const command = [REPRISE, 'chat', '--permissions', 'allow']
  const pty = openPty(command, { env: world.env, cwd: world.workDir, columns: 100 })
  try {
    await pty.shows('claude › ')
    pty.type(`WAIT${KEYS.enter}`)
    await pty.shows('· Bash until')
    pty.type('mind the heliotropp')
    await pty.shows('› mind the heliotropp▏')
    pty.type(`\u007fe${KEYS.enter}`)
    await pty.shows('passed on; the agent reads it after its current step')
    // The agent has the message. It waits for the end of the tool call.
    const runId = (await detail((await newest()).id)).messages[0]!.runId!
    const { items } = await world.api<{ items: RunMessage[] }>('GET', `/api/runs/${runId}/messages`)
    await world.waitForEvent(
      runId,
      (event) => event.type === 'native' && JSON.stringify(event.line).includes(items[0]!.id),
    )
    writeFileSync(join(world.workDir, 'go'), '')
    await pty.shows('read a message from the user: mind the heliotrope')
    // During the last model call it is too late for this answer; the agent answers once more before the turn ends.
    await world.simulator.waitForHold('end')
    pty.type(`and the crocus${KEYS.enter}`)
    await pty.shows('passed on')
    pty.type('draft')
    await pty.shows('› draft▏')
    world.simulator.release('end')
    await pty.shows('read a message from the user: and the crocus')
    await pty.shows('Noted.')
    await pty.shows('claude › draft')
    pty.type(KEYS.ctrlC)
    await pty.shows('claude › ')
    pty.type(KEYS.ctrlD)
    expect(await pty.code).toBe(0)
  } finally {
    pty.close()
  }
  const { id } = await newest()
  const told = (text: string) => sent().split(text).length - 1
  expect([told('mind the heliotrope'), told('and the crocus')]).toEqual([1, 1])
  expect((await detail(id)).turnCount).toBe(1)
}, 300_000)

test('conversations and totals', async () => {
  await begin('-m', 'to be shown')
  const { id } = await newest()
  expect((await cli.inside(['conversations'])).stdout).toMatch(
    new RegExp(`^${id}  claude .* to be shown$`, 'm'),
  )
  const shown = await cli.inside(['conversations', 'show', id])
  expect(shown.stdout).toMatch(/you:\n {2}to be shown\n\nclaude:\n {2}Noted\.\n/)
  expect((await cli.inside(['conversations', 'show', id, '--json'])).json()).toMatchObject({
    id,
    turnCount: 1,
  })

  const { stdout } = await cli.inside(['stats'])
  expect(stdout).toMatch(/^sessions {4}\d+ resumed, \d+ new \(.*nothing to resume/m)
  expect(stdout).toMatch(/^not sent {4}~\S+ tokens of text \(\d+ %\)$/m)
  expect(stdout).toMatch(/^cache {7}\d+ resumed turns? read \S+ of \S+ expected tokens$/m)
  expect(stdout).toMatch(/^saved {7}(about|nothing:) /m)
  const stats = (await cli.inside(['stats', '--json'])).json<Stats>()
  expect(stats.promptTokensSaved).toBeGreaterThan(0)
  expect(stats.promptTokensOfTranscripts).toBeGreaterThan(stats.promptTokensSent)

  expect((await cli.inside(['conversations', 'rm', id])).code).toBe(0)
  expect((await cli.inside(['conversations', 'rm', id])).code).toBe(1)
  expect((await cli.inside(['conversations', 'rm', id, '--json'])).json()).toMatchObject({
    error: { code: 'not-found' },
  })
})
