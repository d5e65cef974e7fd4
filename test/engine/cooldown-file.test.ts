import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { CooldownState } from '../../src/core/rules/cooldown-state.ts'
import { sweepActions, writeCooldownFile } from '../../src/engine/enforce/cooldown-file.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { claim, restart } from '../store/actions.ts'
import { at, T0 } from '../store/records.ts'

const HOUR = 3600

async function stage() {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-cooldown-'))
  const store = await openSqliteStore(join(dir, 'db'), T0)
  onTestFinished(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const { limits } = claim()
  const file = join(dir, 'cooldown.json')
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as CooldownState
  return { dir, store, limits, file, read }
}

test('lists the actions, how many are left, and when the next one is allowed', async () => {
  const { dir, store, limits, file, read } = await stage()
  await store.claimActions(claim({ at: at(-9 * HOUR), actions: [restart('old')] }))
  await store.claimActions(claim({ at: at(-2 * HOUR), actions: [restart('web')] }))
  await store.claimActions(claim({ at: at(-1 * HOUR), actions: [restart('web'), restart('db')] }))
  await store.claimActions(claim({ at: at(-9 * HOUR), actions: [restart('db', { rule: 'redeploy' })] }))
  await writeCooldownFile(dir, store, limits, T0)
  expect(read()).toEqual({
    updatedAt: T0.toISOString(),
    rules: { restart: { limit: 2, per: '4h' }, redeploy: { limit: 1, per: '1d' } },
    services: {
      db: {
        restart: { used: 1, limit: 2, lastAt: at(-1 * HOUR).toISOString(), freeAt: null },
        redeploy: {
          used: 1,
          limit: 1,
          lastAt: at(-9 * HOUR).toISOString(),
          freeAt: at(15 * HOUR).toISOString(),
        },
      },
      web: {
        restart: {
          used: 2,
          limit: 2,
          lastAt: at(-1 * HOUR).toISOString(),
          freeAt: at(2 * HOUR).toISOString(),
        },
      },
    },
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('an action on all services counts for each of them', async () => {
  const { dir, store, limits, read } = await stage()
  await store.claimActions(claim({ at: at(-2), actions: [restart('web')] }))
  await store.claimActions(claim({ at: at(-1), actions: [restart('*', { scope: 'media' })] }))
  await writeCooldownFile(dir, store, limits, T0)
  expect(read().services).toMatchObject({ '*': { restart: { used: 1 } }, web: { restart: { used: 2 } } })
})

test('is replaced atomically, also by concurrent writers, and leaves no other file', async () => {
  const { dir, store, limits, read } = await stage()
  await Promise.all(Array.from({ length: 20 }, () => writeCooldownFile(dir, store, limits, T0)))
  expect(read().services).toEqual({})
  expect(readdirSync(dir).filter((name) => name.includes('cooldown'))).toEqual(['cooldown.json'])
})

test('actions are kept as long as a rule counts them, and 30 days at least', async () => {
  const { store, limits } = await stage()
  await store.claimActions(claim({ at: at(-31 * 24 * HOUR) }))
  await store.claimActions(claim({ at: at(-29 * 24 * HOUR) }))
  const long = [...limits, { name: 'rare', limit: 1, perMs: 90 * 86_400_000 }]
  expect(await sweepActions(store, long, T0)).toBe(0)
  expect(await sweepActions(store, limits, T0)).toBe(1)
})
