/** Runs in a sandbox, on the real CLI: what they cannot touch, and that everything else works as without one. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { bash, results } from '../support/incident.ts'
import { QUESTION } from '../support/question.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

/** Not below /tmp: the sandbox has a /tmp of its own, and what is hidden by that proves nothing. */
const BASE = '/var/tmp'

const doing = (when: string, command: string, end = 'done') => ({
  when: `/^${when}$/`,
  reply: [bash(command), results, { text: end }],
})

const told = (): string => JSON.stringify(world.simulator.requests().map(({ messages }) => messages))

it('writes its work directory and nothing else, sees no credentials, and resumes with its files in /tmp', async () => {
  const attacks = [
    'echo made >made',
    'echo kept >/tmp/note',
    'echo x >"$HOME/outside"',
    'cat "$REPRISE_HOME_WAS/token" "$HOME/.ssh/id_rsa"',
    'echo "{}" >"$CLAUDE_CONFIG_DIR/settings.json"',
    'ls "$HOME/reprise" | wc -l',
    'true',
  ]
  world = await World.create(
    { name: 'sandbox', rules: [doing('try', attacks.join('; ')), doing('go on', 'cat /tmp/note; ls')] },
    { agents: { claude: { model: 'haiku', env: { REPRISE_HOME_WAS: '' } } } },
    BASE,
  )
  mkdirSync(join(world.dir, '.ssh'))
  writeFileSync(join(world.dir, '.ssh/id_rsa'), 'SECRET-KEY')
  mkdirSync(world.configDir)
  writeFileSync(join(world.configDir, 'settings.json'), '{"cleanupPeriodDays": 99}')
  await world.configure({
    agents: { claude: { model: 'haiku', env: { REPRISE_HOME_WAS: world.home } } },
    run: { permissions: 'allow' },
  })
  await world.startDaemon()
  const token = readFileSync(join(world.home, 'token'), 'utf8').trim()
  const first = await world.run({ prompt: 'try', sandbox: true })
  expect(first).toMatchObject({ outcome: 'completed', resumed: false })
  expect(first.sandbox).not.toBe('none')
  const second = await world.run({ prompt: 'go on', sessionId: first.session! })
  expect(second).toMatchObject({ outcome: 'completed', resumed: true, sessionId: first.sessionId })

  expect(readFileSync(join(world.workDir, 'made'), 'utf8')).toBe('made\n')
  expect(existsSync(join(world.dir, 'outside'))).toBe(false)
  expect(readFileSync(join(world.configDir, 'settings.json'), 'utf8')).toBe('{"cleanupPeriodDays": 99}')
  expect(told()).toMatch(/read-only file system/i)
  expect(told()).toMatch(/kept\\nmade/)
  for (const secret of [token, 'SECRET-KEY']) expect(told()).not.toContain(secret)
  // Nothing is left in the work directory but what the agent made.
  expect(readdirSync(world.workDir)).toEqual(['made'])
})

it('is adopted by the next daemon, resumed after a kill, asks and is answered, and leaves nothing running', async () => {
  const question = { tool: 'AskUserQuestion', input: { questions: [QUESTION] } }
  world = await World.create(
    {
      name: 'lives',
      rules: [
        {
          when: '/^work$/',
          reply: [bash('echo 1 >>count'), results, { hold: 'first' }, { text: 'never said' }],
        },
        { when: '/^ask$/', reply: [question, results, { text: 'answered' }] },
        {
          when: { user: 'interrupted' },
          reply: [bash('echo 2 >>count'), results, { hold: 'second' }, { text: 'finished' }],
        },
      ],
    },
    { run: { permissions: 'allow', termAfter: '1s', killAfter: '1s', sandbox: 'on' } },
    BASE,
  )
  await world.startDaemon()
  const job = await world.api<{ id: string; runId: string }>('POST', '/api/jobs', {
    prompt: 'work',
    workDir: world.workDir,
  })
  await world.simulator.waitForHold('first')
  const agents = () =>
    world
      .processes()
      .filter(
        ({ command }) => /claude/.test(command) && !/keeper|unshare|bwrap|setpriv|sandbox-init/.test(command),
      )
  const [agent] = agents()
  await world.killDaemon()
  await world.startDaemon()
  process.kill(agent!.pid, 'SIGKILL')
  await world.simulator.waitForHold('second')
  await world.killDaemon()
  world.simulator.release('second')
  await world.startDaemon()
  const run = await world.settled(job.runId)
  expect(run).toMatchObject({ outcome: 'completed', resultText: 'finished', attemptCount: 2 })
  expect(run.sandbox).not.toBe('none')
  expect(readFileSync(join(world.workDir, 'count'), 'utf8')).toBe('1\n2\n')

  const asking = await world.createRun({ prompt: 'ask', sessionId: run.session! })
  const pending = await until(async () => (await world.getRun(asking.id)).pending[0] ?? null, 'the question')
  await world.api('POST', `/api/runs/${asking.id}/tool-result`, {
    toolUseId: pending.toolUseId,
    answers: { 'Which colour?': 'Blue' },
  })
  expect(await world.settled(asking.id)).toMatchObject({
    outcome: 'completed',
    resultText: 'answered',
    resumed: true,
  })
  expect(told()).toContain('Blue')
  expect(world.processes()).toEqual([])
})
