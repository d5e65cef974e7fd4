/** The real CLI inside, against the simulator: its shell is held, its session lasts from one process to the next. */
import { randomUUID } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSimulator } from '../../../src/simulator/server.ts'
import { unavailable, variants } from './available.ts'
import { Box, SECRET } from './box.ts'

const CLAUDE = resolve(import.meta.dirname, '../../../node_modules/.bin/claude')

for (const what of unavailable) it.skip(`the real CLI with ${what}`, () => {})

const SCRIPT = [
  'echo changed >"$OUTSIDE/file"',
  'echo "{}" >"$CLAUDE_CONFIG_DIR/settings.json"',
  'cat ~/.ssh/id ~/.netrc token',
  'echo made >made; echo temporary >/tmp/note',
  'kill -0 "$PARENT" && echo signal""led',
  'true',
].join('; ')

describe.each(variants)('$title', ({ means, user }) => {
  it('runs commands in the work directory, reaches nothing else, and resumes', async () => {
    const simulator = await startSimulator({
      scenario: {
        name: 'sandbox',
        rules: [
          {
            when: '/^try it$/',
            reply: [{ tool: 'Bash', input: { command: SCRIPT } }, { await: 'results' }, { text: 'I tried.' }],
          },
          { when: '/^go on$/', reply: 'I am back.' },
        ],
      },
    })
    onTestFinished(() => simulator.close())
    const box = new Box(means, user)
    onTestFinished(() => box.close())
    const config = join(box.home, '.claude')
    mkdirSync(config)
    writeFileSync(join(config, 'settings.json'), '{"cleanupPeriodDays": 99}')
    for (const path of [config, join(config, 'settings.json')]) chownSync(path, user.uid, user.gid)

    const session = randomUUID()
    const turn = (flag: string, prompt: string) =>
      box.run(
        [CLAUDE, '-p', flag, '--model=haiku', '--output-format=json', '--allowedTools=Bash', '--', prompt],
        {
          input: { writable: [box.work, config], readOnly: [join(config, 'settings.json')] },
          env: {
            CLAUDE_CONFIG_DIR: config,
            ANTHROPIC_API_KEY: 'made-up',
            ANTHROPIC_BASE_URL: simulator.url,
            CLAUDE_CODE_MAX_RETRIES: '1',
            NO_PROXY: '127.0.0.1',
            PARENT: String(process.pid),
          },
        },
      )
    const first = await turn(`--session-id=${session}`, 'try it')
    expect(first.code, first.stdout + first.stderr).toBe(0)
    expect(JSON.parse(first.stdout)).toMatchObject({ result: 'I tried.', session_id: session })

    expect(readFileSync(join(box.work, 'made'), 'utf8')).toBe('made\n')
    expect(readFileSync(join(box.tmp, 'note'), 'utf8')).toBe('temporary\n')
    expect(existsSync('/tmp/note')).toBe(false)
    expect(readFileSync(join(box.outside, 'file'), 'utf8')).toBe('original\n')
    expect(readFileSync(join(config, 'settings.json'), 'utf8')).toBe('{"cleanupPeriodDays": 99}')

    const second = await turn(`--resume=${session}`, 'go on')
    expect(JSON.parse(second.stdout)).toMatchObject({ result: 'I am back.', session_id: session })
    const sent = JSON.stringify(simulator.requests())
    expect(sent).toMatch(/read-only file system/i)
    expect(sent).not.toContain(SECRET)
    expect(sent).not.toContain('signalled')
  })
})
