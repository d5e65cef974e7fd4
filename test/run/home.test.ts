/** A home and its database belong together. */
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
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
