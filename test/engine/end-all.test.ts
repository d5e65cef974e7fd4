/** Closing an engine whose runs must not stay, also while nothing can be stored. */
import { expect, it } from 'vitest'
import { RepriseError } from '../../src/contract/errors.ts'
import { AttemptId, RunId } from '../../src/contract/ids.ts'
import { type EndAllDeps, endAll } from '../../src/engine/runs/end-all.ts'

const NOW = new Date('2026-05-01T10:00:00Z')

function setUp(cancel: (id: RunId, end: () => void) => Promise<void>) {
  const id = RunId.create(NOW)
  const attempt = AttemptId.create(NOW)
  const driving = new Map<Promise<void>, RunId>()
  let end = () => {}
  const work = new Promise<void>((resolve) => {
    end = resolve
  }).finally(() => driving.delete(work))
  driving.set(work, id)
  const killed: string[] = []
  const deps = {
    driving,
    cancel: (run: RunId) => cancel(run, end),
    storageFailures: { current: null },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    store: { listOpenProcesses: async () => [{ attempt: { id: attempt, spool: attempt } }] },
    processes: {
      folderOf: () => ({}),
      readKeeper: async () => null,
      endStrays: async (one: string) => {
        killed.push(one)
      },
    },
  } as unknown as EndAllDeps
  return { deps, killed, attempt }
}

const refuse = () => {
  throw new RepriseError('home-unusable', 'cannot store: the disk is full')
}

it('each run is cancelled once, and its end is waited for', async () => {
  const asked: RunId[] = []
  const { deps, killed } = setUp(async (id, end) => {
    asked.push(id)
    setTimeout(end, 20)
  })
  await endAll(deps, 1)
  expect([asked.length, killed, deps.driving.size]).toEqual([1, [], 0])
})

it('a disk that refuses for a moment delays it', async () => {
  let refusals = 0
  const { deps, killed } = setUp(async (_, end) => (refusals++ < 3 ? refuse() : end()))
  await endAll(deps, 1)
  expect([refusals, killed]).toEqual([4, []])
})

it('while the disk refuses all writes, the processes are ended, and closing does not wait for it', async () => {
  const { deps, killed, attempt } = setUp(async () => refuse())
  await endAll(deps, 1)
  expect(killed).toEqual([attempt])
})

it('so it is if a write that is repeated until it succeeds is what everybody waits for', async () => {
  const { deps, killed, attempt } = setUp(() => new Promise(() => {}))
  await endAll({ ...deps, storageFailures: { current: { since: NOW, why: 'the disk is full' } } }, 1)
  expect(killed).toEqual([attempt])
})
