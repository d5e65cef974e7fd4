import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { RunId, SessionId } from '../../../src/contract/ids.ts'
import { prepareSessionDir } from '../../../src/engine/enforce/session-dir.ts'
import { sweepSandboxes } from '../../../src/engine/retention/files.ts'
import { Tally } from '../../../src/engine/retention/tally.ts'
import { Stage } from '../../support/memory/stage.ts'

it('removes the folders of sessions that are unknown or too old, unless a run uses them', async () => {
  const sandboxes = mkdtempSync(join(tmpdir(), 'reprise-sandboxes-'))
  onTestFinished(() => rmSync(sandboxes, { recursive: true }))
  const stage = await Stage.open()
  onTestFinished(() => stage.close())
  const { store } = stage
  const run = await stage.run({ prompt: 'hello' })
  const used = run.session!
  const unknown = SessionId.create(new Date(0))
  for (const name of [used, unknown, 'other']) mkdirSync(join(sandboxes, name, 'tmp'), { recursive: true })
  // The agent's own folder of the session is elsewhere.
  const elsewhere = join(sandboxes, 'of-the-agent')
  mkdirSync(elsewhere)
  prepareSessionDir(join(sandboxes, used), ['tmp'], [elsewhere])
  const now = new Date()
  const sweep = (at: Date, holder: RunId | null = null, dryRun = false) =>
    sweepSandboxes(
      {
        store: { getSession: store.getSession, findLeaseHolder: async () => holder },
        log: stage.input().log,
        sandboxes,
        settings: { resume: { maxAgeMs: 1000 } },
      },
      { now: at, dryRun, tally: new Tally() },
    )
  const lastUsed = (await store.getSession(used))!.lastUsedAt
  await sweep(new Date(lastUsed.getTime() + 1000))
  expect(readdirSync(sandboxes).toSorted()).toEqual(['of-the-agent', 'other', used].toSorted())
  const later = new Date(lastUsed.getTime() + 1001)
  await sweep(later, RunId.create(now))
  expect(readdirSync(sandboxes)).toContain(used)
  await sweep(later, null, true)
  expect(readdirSync(sandboxes), 'a dry run').toContain(used)
  await sweep(later)
  expect(readdirSync(sandboxes)).toEqual(['other'])
})
