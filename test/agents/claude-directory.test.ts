/** What a work directory would make Claude Code do, read from directories that a stranger may have written. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readClaudeDirectory, readClaudeInstructions } from '../../src/agents/claude/directory.ts'
import { temporaryDir } from './temporary-dir.ts'

const ENV = { HOME: '/nowhere' }

function write(dir: string, name: string, content: string | object): string {
  const path = join(dir, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const read = (dir: string) => readClaudeDirectory(dir, ENV)
const hook = (command: string) => ({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }] } })

describe('the content that needs trust', () => {
  it('is described with every command, server and rule', async () => {
    const dir = temporaryDir()
    write(dir, '.claude/settings.json', {
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'evil --now' }] }] },
      permissions: { allow: ['Bash', 'Edit'], defaultMode: 'acceptEdits' },
      enableAllProjectMcpServers: true,
    })
    write(dir, '.mcp.json', {
      mcpServers: { s: { command: 'sh', args: ['-c', 'evil'] }, u: { url: 'http://x' } },
    })
    write(dir, '.claude/commands/deploy.md', 'Deploy: !`evil-command`')
    write(dir, '.claude/agents/a.md', '---\nname: a\ndescription: helps\n---\n')
    write(dir, '.claude/hooks/run.sh', 'evil')
    const { grants, files, problems } = await read(dir)
    expect(grants.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'mcp-server s: sh -c evil',
      'mcp-server u: http://x',
      'agent helps',
      'command Deploy: !`evil-command`',
      'command runs evil-command',
      'file a file that the agent may use',
      'hook PreToolUse Bash: evil --now',
      'permission allow: Bash',
      'permission allow: Edit',
      'permission defaultMode: acceptEdits',
      'setting enableAllProjectMcpServers: true',
    ])
    expect(files).toHaveLength(5)
    expect(problems).toEqual([])
  })

  it('is not text for the model, and not what the user has set for everywhere', async () => {
    const dir = temporaryDir()
    write(dir, 'CLAUDE.md', 'text')
    write(dir, '.claude/CLAUDE.md', 'text')
    write(dir, '.claude/rules/style.md', 'text')
    write(dir, 'home/.claude/settings.json', hook('mine'))
    const env = { HOME: join(dir, 'home') }
    mkdirSync(join(dir, 'home/work'))
    expect((await readClaudeDirectory(join(dir, 'home/work'), env)).files).toEqual([])
  })

  it('is also in folders above, and in the main work tree of a linked one', async () => {
    const dir = temporaryDir()
    const above = write(dir, '.mcp.json', { mcpServers: {} })
    const main = write(dir, 'main/.claude/settings.local.json', hook('x'))
    const git = join(dir, 'main/.git/worktrees/w')
    mkdirSync(git, { recursive: true })
    writeFileSync(join(git, 'commondir'), '../..\n')
    write(dir, 'linked/.git', `gitdir: ${git}\n`)
    expect((await read(join(dir, 'linked'))).files.map(({ path }) => path)).toEqual([above, main])
  })

  it('is another when the target of a link changes', async () => {
    const dir = temporaryDir()
    const target = write(dir, 'elsewhere/settings.json', hook('first'))
    mkdirSync(join(dir, 'work/.claude'), { recursive: true })
    symlinkSync(target, join(dir, 'work/.claude/settings.json'))
    const before = await read(join(dir, 'work'))
    writeFileSync(target, JSON.stringify(hook('second')))
    const after = await read(join(dir, 'work'))
    expect(before.grants[0]?.text).toContain('first')
    expect(after.files[0]?.path).toBe(before.files[0]?.path)
    expect(after.files[0]?.hash).not.toBe(before.files[0]?.hash)
  })

  it.each([
    ['a FIFO', (path: string) => execFileSync('mkfifo', [path]), 'is not a regular file'],
    ['a device', (path: string) => symlinkSync('/dev/zero', path), 'is not a regular file'],
    ['a link to itself', (path: string) => symlinkSync(path, path), 'is a symbolic link'],
    [
      'a file that is too large',
      (path: string) => writeFileSync(path, Buffer.alloc(5 << 20)),
      'is larger than',
    ],
  ])('cannot be trusted with %s in it, which is not waited for', async (_, make, why) => {
    const dir = temporaryDir()
    mkdirSync(join(dir, '.claude'))
    make(join(dir, '.claude/settings.json'))
    expect((await read(dir)).problems).toEqual([expect.stringContaining(why)])
  })

  it('ends, also in folders that contain themselves', async () => {
    const dir = temporaryDir()
    mkdirSync(join(dir, '.claude/skills'), { recursive: true })
    symlinkSync('..', join(dir, '.claude/skills/again'))
    expect((await read(dir)).problems.length).toBeGreaterThan(0)
  })
})

it('collects the instructions that the CLI would not read: outermost first, without waiting for a FIFO', async () => {
  const dir = temporaryDir()
  write(dir, 'CLAUDE.md', 'above all')
  write(dir, 'repo/CLAUDE.md', 'of the repository')
  write(dir, 'repo/sub/CLAUDE.md', 'read by the CLI itself')
  write(dir, 'repo/sub/CLAUDE.local.md', 'mine')
  execFileSync('mkfifo', [join(dir, 'repo/CLAUDE.local.md')])
  const text = (await readClaudeInstructions(join(dir, 'repo/sub'), ENV)) ?? ''
  const found = ['above all', 'of the repository', 'mine'].map((part) => text.indexOf(part))
  expect(found.every((at) => at >= 0)).toBe(true)
  expect(found).toEqual(found.toSorted((a, b) => a - b))
  expect(text).not.toContain('read by the CLI itself')
})

it('reads no instructions through a link to another folder, a hidden file or a device, but those of a file beside it', async () => {
  const dir = temporaryDir()
  write(dir, 'home/token', 'SECRET of the home')
  write(dir, 'above/AGENTS.md', 'shared with others')
  write(dir, 'above/repo/.env', 'SECRET of the project')
  symlinkSync('AGENTS.md', join(dir, 'above/CLAUDE.md'))
  symlinkSync('../../home/token', join(dir, 'above/repo/CLAUDE.md'))
  const mine = join(dir, 'above/repo/CLAUDE.local.md')
  for (const target of [join(dir, 'home/token'), '.env', '/proc/self/environ', '/dev/zero', 'CLAUDE.md']) {
    symlinkSync(target, mine)
    for (const workDir of ['above/repo', 'above/repo/sub']) {
      mkdirSync(join(dir, workDir), { recursive: true })
      const text = (await readClaudeInstructions(join(dir, workDir), ENV)) ?? ''
      expect(text, target).toContain('shared with others')
      expect(text, target).not.toMatch(/SECRET|PATH=/)
    }
    rmSync(mine)
  }
})
