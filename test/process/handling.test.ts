import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { decideQuarantine } from '../../src/core/quarantine.ts'
import { Handling } from '../../src/process/handling.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'reprise-handling-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** The life of a daemon: it dies after `work`. */
function life(work: (handling: Handling) => void) {
  const handling = new Handling(dir)
  const suspected = handling.open()
  work(handling)
  return suspected
}

it('knows after a crash what was being handled, and counts only crashes at the same step', () => {
  life((h) => {
    h.begin('run_a', 'read', 'att', 100)
    h.begin('run_b', 'read', 'att', 7)
    h.end('run_b', 'read', 'att', 7)
  })
  expect(life((h) => h.begin('run_a', 'read', 'att', 100))).toEqual([
    { runId: 'run_a', step: 'read', at: 'att', position: 100, deaths: 1 },
  ])
  // It got further this time.
  const third = life((h) => h.begin('run_a', 'read', 'att', 200))
  expect(third).toMatchObject([{ position: 100, deaths: 2 }])
  expect(life((h) => h.begin('run_a', 'read', 'other', 100))).toMatchObject([{ position: 200, deaths: 1 }])
  expect(life(() => {})).toMatchObject([{ at: 'other', deaths: 1 }])
})

it('a step that begins earlier and makes no further progress counts as the same step', () => {
  life((h) => h.begin('run_a', 'read', 'att', 100))
  // Less was stored than had been read.
  life((h) => {
    h.begin('run_a', 'read', 'att', 60)
    h.end('run_a', 'read', 'att', 60, 100)
    h.begin('run_a', 'read', 'att', 100)
  })
  expect(life(() => {})).toMatchObject([{ position: 100, deaths: 2 }])
})

it('a step that gets further than the last crash is no longer suspected', () => {
  life((h) => h.begin('run_a', 'read', 'att', 100))
  life((h) => {
    h.begin('run_a', 'read', 'att', 60)
    h.end('run_a', 'read', 'att', 60, 101)
  })
  expect(life(() => {})).toEqual([])
})

it('a suspect that passes the step is cleared, and a settled run is forgotten', () => {
  life((h) => h.begin('run_a', 'settle', 'x'))
  life((h) => {
    h.begin('run_a', 'settle', 'x')
    h.end('run_a', 'settle', 'x')
    h.begin('run_b', 'call', 'y')
  })
  expect(life((h) => h.forget('run_b'))).toMatchObject([{ runId: 'run_b' }])
  expect(readdirSync(dir)).toEqual([])
})

it('the end of an earlier batch does not remove the note of the one being read', () => {
  life((h) => {
    h.begin('run_a', 'read', 'att', 1)
    h.begin('run_a', 'read', 'att', 2)
    h.end('run_a', 'read', 'att', 1)
  })
  expect(life(() => {})).toMatchObject([{ position: 2, deaths: 1 }])
})

it('the end of one guard question keeps the note of another, also in the next daemon', () => {
  const killer = (h: Handling) => {
    h.begin('run_a', 'call', 'g1')
    h.begin('run_a', 'call', 'g2')
    h.end('run_a', 'call', 'g2')
  }
  life(killer)
  const once = { runId: 'run_a', step: 'call', at: 'g1', position: 0, deaths: 1 }
  expect(life(killer)).toEqual([once])
  expect(life((h) => h.forget('run_a'))).toEqual([{ ...once, deaths: 2 }])
  expect(readdirSync(dir)).toEqual([])
})

it('handles suspects one by one, and no other run waits', async () => {
  life((h) => {
    h.begin('run_a', 'read', '1')
    h.begin('run_b', 'read', '1')
  })
  const handling = new Handling(dir)
  handling.open()
  const order: string[] = []
  await handling.enter('run_other')
  await handling.enter('run_a')
  const second = handling.enter('run_b').then(() => order.push('b'))
  await new Promise((next) => setImmediate(next))
  order.push('a')
  handling.leave('run_a')
  await second
  expect(order).toEqual(['a', 'b'])
})

it('ignores files that are incomplete or not its own', () => {
  for (const [name, text] of [
    ['run_a.read', '{"at":'],
    ['run_b.read', '{"at":1,"position":1,"active":true,"deaths":0}'],
    ['run_c.dance', '{"at":"1","position":1,"active":true,"deaths":9}'],
  ] as const)
    writeFileSync(join(dir, name), text)
  expect(life(() => {})).toEqual([])
  expect(readdirSync(dir)).toEqual([])
})

it('is quarantined after two crashes at one step, not after one at each of two', () => {
  expect(decideQuarantine([])).toBeNull()
  const once = { step: 'read', deaths: 1 } as const
  expect(decideQuarantine([once, { step: 'settle', deaths: 1 }])).toBeNull()
  expect(decideQuarantine([once, { step: 'settle', deaths: 2 }])).toMatchObject({
    name: 'quarantined',
    message: expect.stringMatching(/^the daemon died twice while it was settling the run\./),
  })
  expect(decideQuarantine([{ step: 'call', deaths: 5 }])?.message).toContain('5 times')
})
