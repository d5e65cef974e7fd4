/** `reprise attach` in a real terminal, with the real agent and a daemon: replay, answers, approval, both ways to leave. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shortId } from '../../src/contract/reference.ts'
import type { Run } from '../../src/contract/run.ts'
import { createJob, getJob, jobEnds, jobIs } from '../support/jobs.ts'
import { QUESTION } from '../support/question.ts'
import { REPRISE, until, World } from '../support/world.ts'
import { runInside } from './inside.ts'
import { openPty, type Pty } from './pty.ts'
import { KEYS } from './terminal-double.ts'

const report = (status: string, escalate: boolean) => ({
  status,
  summary: `it is ${status}`,
  checks: [],
  services: [],
  actions: [],
  escalate,
  reason: 'because',
})

const MARKDOWN = [
  '## Result',
  '',
  '- Remove the folder and install everything again, then look at what is left of it.',
  '',
  '```sh',
  'npm ci',
  '```',
  'Done.',
].join('\n')

let world: World
let pty: Pty | null = null
beforeAll(async () => {
  world = await World.create(
    {
      rules: [
        {
          when: /You now work as tier 2/,
          reply: [
            { tool: 'StructuredOutput', input: report('fixed', false) },
            { await: 'results' },
            { text: 'Fixed.' },
          ],
        },
        {
          when: /You work as tier 1/,
          reply: [
            { tool: 'StructuredOutput', input: report('down', true) },
            { await: 'results' },
            { text: 'Down.' },
          ],
        },
        { when: /HOLD$/, reply: [{ text: 'Thinking.' }, { hold: 'gate' }, { text: ' Went on.' }] },
        {
          when: /TOUCH$/,
          reply: [
            { text: 'First a question.' },
            { tool: 'AskUserQuestion', input: { questions: [QUESTION] } },
            { await: 'results' },
            { tool: 'Bash', input: { command: 'touch made' } },
            { await: 'results' },
            { tool: 'Bash', input: { command: 'touch made' } },
            { await: 'results' },
            { text: 'Result: done' },
          ],
        },
        { when: /MARKDOWN$/, reply: [{ text: MARKDOWN }] },
        { reply: 'Noted.' },
      ],
    },
    { tiers: { 2: { approval: true } } },
  )
  await world.startDaemon()
})
afterAll(async () => {
  pty?.close()
  await world.close()
})

const attach = (...args: string[]) => {
  pty = openPty([REPRISE, 'attach', ...args], { env: world.env, cwd: world.workDir })
  return pty
}

test('shows what was, asks with numbered options, and for a permission; always allowed is not asked again', async () => {
  const { id } = await createJob(world, { prompt: 'TOUCH', permissions: 'ask' })
  await jobIs(world, id, ({ pending }) => pending.length > 0)
  const terminal = attach(id.slice(-6).toLowerCase())
  await terminal.shows(`${shortId(id)}  TOUCH`)
  await terminal.shows('Ctrl-C leaves, and the job continues; Ctrl-X cancels it')
  await terminal.shows('First a question.')
  await terminal.shows('Which colour?')
  await terminal.shows('2) Blue – cold')
  await terminal.shows('your answer')
  terminal.type(`2${KEYS.enter}`)
  await terminal.shows('command: touch made')
  await terminal.shows('a = always in this session')
  terminal.type(`a${KEYS.enter}`)
  await terminal.shows('Result: done')
  expect(await terminal.code).toBe(0)
  const ended = await jobEnds(world, id)
  const answers = (await world.events(ended.runId)).filter((event) => event.type === 'question-answer')
  expect(answers).toMatchObject([
    { decision: 'answer', by: 'person' },
    { decision: 'allow', by: 'person' },
    { decision: 'allow', by: 'policy' },
  ])
  expect(JSON.stringify(world.simulator.requests().at(-1)?.messages)).toContain('Blue')
})

test('a window that is resized while a question is open: it is asked in the new width, and can be answered', async () => {
  const { id } = await createJob(world, { prompt: 'TOUCH', permissions: 'ask' })
  await jobIs(world, id, ({ pending }) => pending.length > 0)
  const terminal = attach(id)
  await terminal.shows('your answer')
  const before = terminal.screen().length
  terminal.type('2')
  await terminal.shows('2')
  terminal.resize(50)
  // The line that is being written is drawn again, with what was typed so far.
  await terminal.shows('your answer')
  await terminal.shows('2')
  terminal.type(KEYS.enter)
  await terminal.shows('command: touch made')
  await terminal.shows('a = always in this session')
  terminal.resize(30)
  await terminal.shows('a = always in this session')
  terminal.type(`a${KEYS.enter}`)
  await terminal.shows('Result: done')
  expect(await terminal.code).toBe(0)
  expect(JSON.stringify(world.simulator.requests().at(-1)?.messages)).toContain('Blue')
  const status = terminal
    .screen()
    .slice(before)
    .split(/[\r\n]+/)
    .filter((line) => / turns? · /.test(line))
  for (const line of status.slice(0, -1)) expect(line.length).toBeLessThan(50)
})

test('Ctrl-C leaves and the job works on; Ctrl-X cancels it', async () => {
  const { id } = await createJob(world, { prompt: 'HOLD' })
  await world.simulator.waitForHold('gate')
  const first = attach()
  await first.shows('Thinking.')
  first.type(KEYS.ctrlC)
  await first.shows(`left; the job continues. Come back with: reprise attach ${shortId(id)}`)
  expect(await first.code).toBe(130)
  expect(await getJob(world, id)).toMatchObject({ state: 'running' })
  const second = attach('last')
  await second.shows('Thinking.')
  second.type('\u0018')
  await second.shows('cancelling the job')
  await second.shows('cancelled')
  expect(await second.code).toBe(1)
  expect(await getJob(world, id)).toMatchObject({ state: 'cancelled' })
})

test('an investigation asks for approval where it is watched', async () => {
  const { id } = await world.api<Run>('POST', '/api/runs', {
    prompt: 'Check it',
    workDir: world.workDir,
    tier: 1,
    maxTier: 2,
  })
  const terminal = attach(id)
  await terminal.shows('waiting for approval of tier 2')
  await terminal.shows('it is down')
  await terminal.shows('approve tier 2? [y = yes')
  terminal.type(`y${KEYS.enter}`)
  await terminal.shows('→ tier 2')
  await terminal.shows('fixed: it is fixed')
  expect(await terminal.code).toBe(0)
})

test('a job behind one that asks says so, and what to do', async () => {
  const { id } = await createJob(world, { prompt: 'TOUCH', permissions: 'ask' })
  await jobIs(world, id, ({ pending }) => pending.length > 0)
  const behind = openPty([REPRISE, 'run', 'second'], { env: world.env, cwd: world.workDir, columns: 300 })
  pty = behind
  await behind.shows(`waits for job ${id}, which works in the same directory`)
  await behind.shows(`its agent waits for your answer: \`reprise attach ${id}\``)
  await world.api('POST', `/api/jobs/${id}/cancel`)
  await behind.shows('Noted.')
  await behind.shows('completed')
  expect(await behind.code).toBe(0)
  await until(async () => (await getJob(world, id)).state === 'cancelled', 'the cancelled job')
})

test('the answer of a run is laid out for the terminal, and unchanged in a pipe', async () => {
  const env = { ...world.env, NO_COLOR: '1' }
  const terminal = openPty([REPRISE, 'run', 'MARKDOWN'], { env, cwd: world.workDir, columns: 60 })
  pty = terminal
  await terminal.shows('Done.')
  expect(await terminal.code).toBe(0)
  // Where exactly the line is wrapped depends on pauses while it came.
  expect(terminal.screen()).toMatch(
    /## Result\r\n\r\n• Remove [^\r\n]{20,60}\r\n {2}\S[^\r\n]*\r\n\r\n {4}npm ci\r\nDone\./,
  )
  const { stdout } = await runInside(['jobs', 'logs', 'last'], { env: world.env, cwd: world.workDir })
  expect(stdout).toBe(`${MARKDOWN}\n`)
})
