/** The fingerprint of the files that Claude Code reads only when it starts: it changes with each of them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readClaudeStartFiles } from '../../src/agents/claude/waiting.ts'
import { temporaryDir } from './temporary-dir.ts'

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

test.each([
  ['instructions', 'work/CLAUDE.md'],
  ['instructions of a folder above', 'CLAUDE.md'],
  ['a file that instructions import', 'work/notes/style.md'],
  ['settings', 'work/.claude/settings.json'],
  ['the settings of the user', 'config/settings.json'],
  ['MCP servers', 'work/.mcp.json'],
  ['a skill', 'work/.claude/skills/review/SKILL.md'],
  ['a skill in a folder that is linked to', 'dotfiles/deploy/SKILL.md'],
])('it changes with %s', async (_, file) => {
  const root = temporaryDir()
  write(join(root, 'work', 'CLAUDE.md'), 'See @notes/style.md')
  write(join(root, 'work', 'notes', 'style.md'), 'Be brief.')
  write(join(root, 'dotfiles', 'deploy', 'SKILL.md'), 'Deploy.')
  mkdirSync(join(root, 'config', 'skills'), { recursive: true })
  symlinkSync(join(root, 'dotfiles', 'deploy'), join(root, 'config', 'skills', 'deploy'))
  // A link to a folder above it must not be followed for ever.
  symlinkSync(join(root, 'config'), join(root, 'config', 'skills', 'loop'))
  const read = () => readClaudeStartFiles({ CLAUDE_CONFIG_DIR: join(root, 'config') }, join(root, 'work'))
  const before = await read()
  expect(await read()).toBe(before)
  write(join(root, file), 'Something else, which is longer than before.')
  expect(await read()).not.toBe(before)
})

test('too many files are not read, and equal nothing', async () => {
  const root = temporaryDir()
  const skills = join(root, '.claude', 'skills')
  mkdirSync(skills, { recursive: true })
  for (let link = 0; link < 20; link++) symlinkSync(skills, join(skills, `loop-${link}`))
  const read = () => readClaudeStartFiles({ CLAUDE_CONFIG_DIR: join(root, 'config') }, root)
  expect(await read()).not.toBe(await read())
})

test('what instructions import is neither waited for nor read without end', async () => {
  const root = temporaryDir()
  const work = join(root, 'work')
  write(join(work, 'CLAUDE.md'), 'See @/dev/zero and @pipe and @more.md')
  write(join(work, 'more.md'), 'See @notes.md')
  write(join(work, 'notes.md'), 'Be brief.')
  for (const name of ['pipe', 'AGENTS.md', 'CLAUDE.local.md', '.claude/CLAUDE.md', '.claude/AGENTS.md']) {
    mkdirSync(dirname(join(work, name)), { recursive: true })
    execFileSync('mkfifo', [join(work, name)])
  }
  const read = () => readClaudeStartFiles({ CLAUDE_CONFIG_DIR: join(root, 'config') }, work)
  const before = await read()
  write(join(work, 'notes.md'), 'Something else, which is longer than before.')
  expect(await read()).not.toBe(before)
})
