/** What every store must do about cooldowns. Part of the conformance suite. */
import { describe, expect, it } from 'vitest'
import { AttemptId, RunId } from '../../src/contract/ids.ts'
import type { Action } from '../../src/core/rules/cooldown.ts'
import type { Store } from '../../src/store/store.ts'
import type { ActionClaim } from '../../src/store/tiers/actions.ts'
import { at, T0 } from './records.ts'

const HOUR = 3600

export const restart = (service: string, change: Partial<Action> = {}): Action => ({
  rule: 'restart',
  service,
  scope: null,
  command: `docker restart ${service}`,
  ...change,
})

let calls = 0

const anAttempt = () => ({ id: AttemptId.create(T0), runId: RunId.create(T0) })

export const claim = (change: Partial<ActionClaim> = {}): ActionClaim => ({
  attempt: anAttempt(),
  callId: `call-${++calls}`,
  actions: [restart('web')],
  limits: [
    { name: 'restart', limit: 2, perMs: 4 * HOUR * 1000 },
    { name: 'redeploy', limit: 1, perMs: 24 * HOUR * 1000 },
  ],
  at: T0,
  ...change,
})

const GRANTED = { granted: true }

export function describeActions(open: () => Promise<Store>): void {
  const count = async (store: Store) => (await store.listActions({ since: at(-1e6) })).length

  describe('actions with a cooldown', () => {
    it('are returned as they were claimed', async () => {
      const store = await open()
      const given = claim({ callId: 'toolu_1', actions: [restart('web', { scope: 'media' })], at: at(5) })
      expect(await store.claimActions(given)).toEqual(GRANTED)
      const record = {
        id: expect.stringMatching(/^act_/),
        ...restart('web', { scope: 'media' }),
        runId: given.attempt.runId,
        attemptId: given.attempt.id,
        callId: 'toolu_1',
        at: at(5),
      }
      expect(await store.listActions({ since: at(4) })).toEqual([record])
      expect(await store.listActions({ since: at(5) })).toEqual([])
      expect(await store.listActions({ since: T0, attemptId: given.attempt.id })).toEqual([record])
      expect(await store.listActions({ since: T0, attemptId: AttemptId.create(T0) })).toEqual([])
    })

    it('are granted up to the limit, over all runs, and again when the period is over', async () => {
      const store = await open()
      expect(await store.claimActions(claim({ at: at(0) }))).toEqual(GRANTED)
      expect(await store.claimActions(claim({ at: at(60) }))).toEqual(GRANTED)
      expect(await store.claimActions(claim({ at: at(HOUR) }))).toEqual({
        granted: false,
        reason: expect.stringContaining('cooldown "restart"'),
        rule: 'restart',
        service: 'web',
        used: 2,
        freeAt: at(4 * HOUR),
      })
      expect(await store.claimActions(claim({ actions: [restart('db')], at: at(HOUR) }))).toEqual(GRANTED)
      expect(await store.claimActions(claim({ at: at(4 * HOUR) }))).toEqual(GRANTED)
      expect(await store.claimActions(claim({ at: at(4 * HOUR) }))).toMatchObject({ granted: false })
    })

    it('of one text are all claimed, or none', async () => {
      const store = await open()
      const thrice = [restart('db'), restart('web'), restart('web'), restart('web')]
      expect(await store.claimActions(claim({ actions: thrice }))).toMatchObject({
        granted: false,
        service: 'web',
        used: 0,
        freeAt: null,
      })
      expect(await count(store)).toBe(0)
      expect(await store.claimActions(claim({ actions: thrice.slice(0, 3) }))).toEqual(GRANTED)
      expect(await count(store)).toBe(3)
      expect(await store.claimActions(claim({ actions: [] }))).toEqual(GRANTED)
    })

    it('claimed concurrently take the last place once', async () => {
      const store = await open()
      const answers = await Promise.all(Array.from({ length: 10 }, () => store.claimActions(claim())))
      expect(answers.filter(({ granted }) => granted)).toHaveLength(2)
      expect(await count(store)).toBe(2)
    })

    it('requested again by the same call are the same claim', async () => {
      const store = await open()
      const given = claim({ actions: [restart('web'), restart('web')] })
      const answers = await Promise.all([1, 2, 3].map(() => store.claimActions(given)))
      expect(answers).toEqual([GRANTED, GRANTED, GRANTED])
      expect(await count(store)).toBe(2)
      expect(await store.claimActions({ ...given, at: at(9 * HOUR) })).toEqual(GRANTED)
      expect(await count(store), 'also much later').toBe(2)
      expect(await store.claimActions({ ...given, actions: [restart('web'), restart('db')] })).toEqual(
        GRANTED,
      )
      expect(await count(store), 'only what is new is claimed').toBe(3)
      expect(
        await store.claimActions({ ...given, attempt: anAttempt() }),
        'of another attempt',
      ).toMatchObject({ granted: false })
    })

    it('of long ago are deleted, and nothing else', async () => {
      const store = await open()
      await store.claimActions(claim({ at: at(0) }))
      await store.claimActions(claim({ at: at(10) }))
      expect(await store.deleteActions(at(10))).toBe(1)
      expect(await store.listActions({ since: at(-1) })).toMatchObject([{ at: at(10) }])
    })
  })
}
