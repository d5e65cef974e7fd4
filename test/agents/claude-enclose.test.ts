/** Claude Code's own files in a sandbox: what is private, what can be read, and where the session's files are. */

import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { encloseClaude } from '../../src/agents/claude/enclose.ts'
import { locateClaudeSession } from '../../src/agents/claude/locate.ts'
import { temporaryDir } from './temporary-dir.ts'

const agentSessionId = randomUUID()

function setUp() {
  const home = temporaryDir()
  const config = join(home, '.claude')
  const write = (path: string, text = 'x') => {
    mkdirSync(dirname(join(config, path)), { recursive: true })
    writeFileSync(join(config, path), text)
  }
  write('settings.json', '{}')
  return { home, config, write, env: { HOME: home } }
}

it('shows settings read-only and a private copy of the rest; only the folder of the session is the host’s', async () => {
  const { home, config, env, write } = setUp()
  write('plugins/x', 'plugin')
  write('history.jsonl', 'what others typed')
  writeFileSync(join(home, '.claude.json'), '{"userID":"u"}')
  const inside = await encloseClaude({ agentSessionId, env, workDir: '/srv/app' })
  expect(inside.env).toEqual({ HOME: home, CLAUDE_CONFIG_DIR: config })
  const [whole, project] = inside.privateDirs
  expect([whole?.path, project?.path]).toEqual([config, join(config, 'projects/-srv-app')])
  expect(project?.source).toBe(join(config, `projects/-srv-app-${agentSessionId}`))
  expect(inside.readOnly).toEqual([join(config, 'settings.json'), join(config, 'plugins')])
  expect(readdirSync(whole?.source ?? '')).toEqual(['.claude.json'])
  expect(readFileSync(join(whole?.source ?? '', '.claude.json'), 'utf8')).toBe('{"userID":"u"}')
})

it('keeps nothing from one start to the next that could run, only lists of tasks and the like', async () => {
  const { env } = setUp()
  const start = () => encloseClaude({ agentSessionId, env, workDir: '/srv/app' })
  const folder = (await start()).privateDirs[0]?.source ?? ''
  writeFileSync(join(folder, '.claude.json'), '{"mcpServers":{"mine":{}}}')
  for (const name of ['todos', 'hooks']) mkdirSync(join(folder, name))
  await start()
  expect(readdirSync(folder)).toEqual(['todos'])
})

it.each([
  ['where the CLI put them outside a sandbox', '-srv-app'],
  ['of the former name of the work directory', `-srv-old-${agentSessionId}`],
])('takes over the files of its session %s', async (_, place) => {
  const { config, env, write } = setUp()
  write(`projects/${place}/${agentSessionId}.jsonl`, 'transcript')
  write(`projects/${place}/${agentSessionId}/subagents/a.jsonl`, 'sub')
  write('projects/-srv-app/other.jsonl', 'another session')
  await encloseClaude({ agentSessionId, env, workDir: '/srv/app' })
  const own = join(config, `projects/-srv-app-${agentSessionId}`)
  expect(readFileSync(join(own, `${agentSessionId}.jsonl`), 'utf8')).toBe('transcript')
  expect(readFileSync(join(own, agentSessionId, 'subagents/a.jsonl'), 'utf8')).toBe('sub')
  expect(existsSync(join(config, 'projects/-srv-app/other.jsonl'))).toBe(true)
  expect(await locateClaudeSession(agentSessionId, env, '/srv/app')).toEqual({
    transcript: join(own, `${agentSessionId}.jsonl`),
    folder: join(own, agentSessionId),
    noLinks: true,
  })
})

it('does not follow a link that the agent put in the place of its transcript', async () => {
  const { home, config, env } = setUp()
  await encloseClaude({ agentSessionId, env, workDir: '/srv/app' })
  writeFileSync(join(home, 'secret'), 'secret')
  symlinkSync(
    join(home, 'secret'),
    join(config, `projects/-srv-app-${agentSessionId}/${agentSessionId}.jsonl`),
  )
  expect(await locateClaudeSession(agentSessionId, env, '/srv/app')).toBeNull()
})

it('refuses a work directory whose path is too long', async () => {
  const { env } = setUp()
  await expect(encloseClaude({ agentSessionId, env, workDir: `/${'x'.repeat(300)}` })).rejects.toThrow(
    'too long',
  )
})
