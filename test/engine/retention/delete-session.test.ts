/** Deleting a session, on a real store and the files of a real agent. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { claudeAdapter } from '../../../src/agents/claude/adapter.ts'
import { deleteSession } from '../../../src/engine/retention/delete-session.ts'
import { readPin } from '../../../src/engine/sessions/pin.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { admitted, ending, newAttempt, newSession, startAttempt, T0 } from '../../store/records.ts'
import { base } from '../../support/memory/store.ts'

const FIRST = '11111111-2222-4333-8444-555555555555'
const SECOND = '22222222-2222-4333-8444-555555555555'

async function setUp() {
  const dir = mkdtempSync(join(base, 'reprise-delete-'))
  const store = await openSqliteStore(join(dir, 'db'), T0, { commitWindowMs: 0 })
  onTestFinished(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const env = { CLAUDE_CONFIG_DIR: join(dir, 'claude') }
  const session = newSession({ agentSessionId: FIRST })
  const run = await admitted(store)
  const attempt = await startAttempt(store, {
    attempt: newAttempt(run, session),
    newSession: session,
    events: () => [],
  })
  if (!attempt) throw new Error('expected the attempt to start')
  return { dir, store, env, session, run, attempt }
}

it('the files from before the agent cleared its memory are deleted too, and what the provider wrote', async () => {
  const { dir, store, env, session, attempt } = await setUp()
  const end = ending(attempt)
  await store.endAttempt({ ...end, session: { ...end.session, agentSessionId: SECOND } })
  const files = [FIRST, SECOND].map(
    (id) => claudeAdapter.placeSession(id, env, session.workDir)?.transcript ?? '',
  )
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '{}\n')
  }
  const stored = join(dir, 'agent-sessions', SECOND)
  mkdirSync(stored, { recursive: true })
  writeFileSync(join(stored, 'session.json'), '{}')
  const left = await deleteSession(
    {
      store,
      agents: { find: () => ({ adapter: claudeAdapter, env }) as never },
      mirrors: { remove: async () => {} },
      clock: { now: () => T0, monotonicMs: () => 0 },
      log: { info: () => {}, warn: () => {}, error: () => {} },
      damaged: join(dir, 'damaged'),
      sandboxes: join(dir, 'sandboxes'),
      agentSessions: join(dir, 'agent-sessions'),
    },
    session.id,
  )
  expect([left, ...[...files, stored].map((file) => existsSync(file))]).toEqual([0, false, false, false])
})

it('the files of a session are not restored while a run holds it', async () => {
  const { store, env, run, attempt } = await setUp()
  const session = (await store.getSession(attempt.sessionId))!
  const looked: string[] = []
  const deps = {
    store,
    agents: { get: () => ({ adapter: claudeAdapter, env }) as never },
    mirrors: {
      list: async ({ id }: { id: string }) => {
        looked.push(id)
        return []
      },
    },
    processes: { attemptOf: () => null },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  }
  const read = () => readPin(deps, run, session, { epoch: 0, place: session })
  expect((await read()).pin).toMatchObject({ transcript: 'missing', holder: { kind: 'lease' } })
  expect(looked).toEqual([])
  await store.endAttempt(ending(attempt))
  expect((await read()).pin).toMatchObject({ transcript: 'missing', holder: null })
  expect(looked).toEqual([session.id])
})
