/** A process kept for a follow-up, without the process: what is put into its folder for it to read. */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { AgentRegistry } from '../../src/agents/registry.ts'
import { FollowUpHold } from '../../src/engine/follow-ups/hold.ts'
import { attemptDir, prepare } from '../../src/process/attempt-dir.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import { admitted, COMPLETED } from '../store/records.ts'
import { MINUTE, Stage } from './stage.ts'

it('after a compaction, a kept process gets its task again with the follow-up, though its agent is no longer configured', async () => {
  const stage = await Stage.set()
  const run = await admitted(stage.store, { prompt: 'look after the service' })
  const attempt = await stage.attemptOf(run)
  await stage.plan(run, { inMs: MINUTE }, 'verify it')
  const message = { id: randomUUID(), runId: run.id, requestKey: null, text: 'mind the cellar', from: null }
  await stage.store.sayToRun(message, stage.now)
  await stage.store.markRead(attempt, new Set([message.id]), stage.now)
  await stage.store.advanceAttempt(attempt, EventBatch.of([{ type: 'compaction' }]), 1, stage.now)
  await stage.pass(MINUTE)
  const dir = attemptDir(stage.dir, attempt.id)
  prepare(dir, [])
  const agents = new AgentRegistry([], { get: async () => null, put: async () => {} }, [])
  const hold = new FollowUpHold(
    { ...stage.parts, purposes: stage.purposes, agents },
    { run, attempt, adapter: claudeAdapter, dir, addressee: attempt },
  )
  hold.notePlanned()
  expect(await hold.look({ type: 'turn-end', outcome: COMPLETED })).toBe('given')
  const given = readdirSync(join(dir.path, 'q')).map((name) =>
    readFileSync(join(dir.path, 'q', name), 'utf8'),
  )
  expect(given).toHaveLength(1)
  for (const words of ['look after the service', 'mind the cellar', 'verify it'])
    expect(given[0]).toContain(words)
})
