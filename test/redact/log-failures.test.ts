/** The log cannot end the daemon: entries that cannot be written are dropped, and counted. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { createLog } from '../../src/daemon/log.ts'

const LOG = resolve(import.meta.dirname, '../../src/daemon/log.ts')

it('drops entries while nothing can be written, and then says how many', () => {
  let written = ''
  let room = 10
  const log = createLog((bytes) => {
    if (room === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    const some = bytes.subarray(0, room)
    written += Buffer.from(some).toString()
    room -= some.length
    return some.length
  })
  log.info({}, 'first')
  log.info({}, 'second')
  room = Number.POSITIVE_INFINITY
  log.info({}, 'third')
  const [torn, missing, third] = written.trim().split('\n')
  expect(torn).toHaveLength(10)
  expect(JSON.parse(missing ?? '')).toMatchObject({ dropped: 2 })
  expect(JSON.parse(third ?? '')).toMatchObject({ msg: 'third' })
})

it('a process whose log is on a full disk ends as if nothing had happened', () => {
  const full = openSync('/dev/full', 'w')
  const program = `
    const { createLog } = await import('${LOG}')
    for (let i = 0; i < 100; i++) createLog().error({}, 'nobody reads this')
    console.log('done')
  `
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', full],
    encoding: 'utf8',
  })
  closeSync(full)
  expect([status, stdout]).toEqual([0, 'done\n'])
})
