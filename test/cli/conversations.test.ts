/** `reprise conversations`: moving one says first what that means; what was said outside Reprise is marked. */
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { historyLines, layOutMessages } from '../../src/cli/chat/conversation-text.ts'
import type { ConversationDetail, Message } from '../../src/contract/conversation.ts'
import { ConversationId, MessageId } from '../../src/contract/ids.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
beforeAll(async () => {
  cli = await createCliDouble()
})
afterAll(() => cli.close())

const move = (...args: string[]) => cli.run(['conversations', 'move', ...args])
const workDirOf = async (id: string) =>
  (await cli.run(['conversations', 'show', id, '--json'])).json<ConversationDetail>().workDir

test('to a directory that was renamed: said, and done', async () => {
  const { id, workDir } = cli.engine.addConversation()
  const { code, stdout } = await move(id, 'renamed')
  const to = join(cli.workDir, 'renamed')
  expect([code, stdout]).toEqual([
    0,
    `${workDir} → ${to}\nclaude: it is the directory of the session\nmoved ${id} to ${to}\n`,
  ])
  expect(await workDirOf(id)).toBe(to)
})

test('to another directory: only with --yes, and --dry-run changes nothing', async () => {
  const { id, workDir } = cli.engine.addConversation()
  const refused = await move(id, '/srv/other')
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  expect(refused.stderr).toMatch(/another directory\nhint: .*--yes/)
  const dry = await move(id, '/srv/other', '--dry-run', '--json')
  expect(dry.json()).toMatchObject({ from: workDir, to: '/srv/other', sessions: [{ resumes: false }] })
  expect((await move(id, '/srv/other', '--dry-run')).stdout).toContain('another directory')
  expect(await workDirOf(id)).toBe(workDir)
  const done = await move(id, '/srv/other', '--yes', '--json')
  expect(done.json()).toMatchObject({ workDir: '/srv/other', move: { sessions: [{ resumes: false }] } })
})

test('what was said outside Reprise is marked', async () => {
  const message = (origin: Message['origin']): Message => ({
    id: MessageId.create(new Date()),
    conversationId: ConversationId.create(new Date()),
    turn: 1,
    role: 'user',
    agent: 'claude',
    blocks: [{ type: 'text', text: 'by hand' }],
    state: 'complete',
    runId: null,
    origin,
    createdAt: new Date().toISOString(),
    editedAt: null,
  })
  const [here, outside, branch] = (['reprise', 'outside', 'outside-branch'] as const).map(message)
  expect(historyLines([here!, outside!], 80)).toEqual(['1 you  by hand', '2 you  by hand (outside Reprise)'])
  const [shown] = await layOutMessages([branch!], { stdout: new PassThrough(), env: {} })
  expect(shown?.[0]).toBe('you (outside Reprise, on another branch):')
})
