/** What every store must do for processes. Part of the conformance suite. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { at, ending, running } from './records.ts'

const KEEPER = { pid: 4711, startTicks: '12345', bootId: 'boot' }

export function describeProcesses(open: () => Promise<Store>): void {
  describe('a process', () => {
    it('is recorded with its attempt, is running once its keeper exists, and ends with the attempt', async () => {
      const store = await open()
      const { session, attempt } = await running(store)
      const [starting] = await store.listOpenProcesses()
      expect(starting?.process).toMatchObject({
        id: attempt.processId,
        machineId: expect.stringMatching(/^mch_/),
        sessionId: session.id,
        agent: 'claude',
        spool: attempt.id,
        fence: attempt.fence,
        keeper: null,
        state: 'starting',
        endedAt: null,
      })
      expect(attempt).toMatchObject({ spoolFrom: 0, spoolOffset: 0, costFromUsd: 0 })
      await store.markLaunched(attempt, KEEPER)
      expect(await store.listOpenProcesses()).toMatchObject([
        { process: { state: 'running', keeper: KEEPER }, attempt: { state: 'running', process: KEEPER } },
      ])
      await store.endAttempt(ending(attempt))
      expect(await store.listOpenProcesses()).toEqual([])
    })

    it('is taken over with the attempt that it serves: both have the new fence', async () => {
      const store = await open()
      const { attempt } = await running(store)
      const mine = await store.takeOver(attempt, at(5))
      expect(mine.fence).toBe(attempt.fence + 1)
      expect(await store.listOpenProcesses()).toMatchObject([
        { process: { fence: mine.fence }, attempt: { fence: mine.fence } },
      ])
    })
  })
}
