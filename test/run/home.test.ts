/** A home and its database belong together. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, it } from 'vitest'
import { startDaemon } from '../../src/daemon/start.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

it('a database outside the home can be used by one home only', async () => {
  world = await World.create({ name: 'echo', rules: [{ reply: 'Fine.' }] })
  const store = { url: `sqlite:${join(world.dir, 'shared.db')}` }
  await world.configure({ store })
  await world.startDaemon()
  expect(await world.run({ prompt: 'hello' })).toMatchObject({ outcome: 'completed' })

  const other = await World.create({ name: 'echo', rules: [{ reply: 'Fine.' }] })
  try {
    await other.configure({ store })
    await expect(other.startDaemon()).rejects.toThrow(world.home)
  } finally {
    await other.close()
  }
})

it('a daemon whose database refuses writes says that it is up, without a link that signs in', async () => {
  world = await World.create({ name: 'echo', rules: [{ reply: 'Fine.' }] })
  const log = { info: () => {}, warn: () => {}, error: () => {}, redactWith: () => {} }
  const daemon = await startDaemon({ home: world.home, cwd: world.dir, env: world.env, log })
  try {
    expect(await daemon.createSignInLink()).toContain('/sign-in#')
    const other = new DatabaseSync(join(world.home, 'reprise.db'))
    other.exec('begin immediate')
    expect(await daemon.createSignInLink()).toBeNull()
    other.close()
  } finally {
    await daemon.close()
  }
})
