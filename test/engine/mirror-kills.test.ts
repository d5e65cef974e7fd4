/** A process that mirrors is killed at any moment: what it leaves is never torn, and the next one catches up. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { findChain, groupChunks } from '../../src/engine/mirror/chunks.ts'
import { mirrorDuring } from '../../src/engine/mirror/during.ts'
import { mirrorFile, readMirrored } from '../../src/engine/mirror/mirrored-file.ts'
import { announceSeed } from '../core/random.ts'
import { newSession } from '../store/records.ts'
import { base } from '../support/memory/store.ts'

const NODE = resolve(import.meta.dirname, '../../node_modules/.bin/node')
const SCRIPT = resolve(import.meta.dirname, 'fixtures/mirrors-until-killed.ts')
const KILLS = process.env.REPRISE_TEST_ALL ? 100 : 8

/** Numbers in [0, 1) that follow from the seed. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

it('a kill leaves the beginning of one version of the file', async () => {
  const dir = mkdtempSync(join(base, 'reprise-mirror-kill-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const [file, place] = [join(dir, 'file'), { dir: join(dir, 'mirror'), name: 'transcript' }]
  const read = async () => {
    const chain = findChain(groupChunks(readdirSync(place.dir)).get(place.name) ?? [])
    return chain ? text(readMirrored(place, chain)) : ''
  }
  const next = random(announceSeed('mirror kills'))
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(NODE, [SCRIPT, file, place.dir, String(kill)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    let steps = Math.floor(next() * 40) + 1
    await new Promise<void>((done) => {
      child.stdout.on('data', (chunk) => {
        steps -= String(chunk).split('\n').length - 1
        if (steps <= 0) done()
      })
    })
    // Anywhere between two steps.
    await delay(next() * 8)
    child.kill('SIGKILL')
    await exited
    const mirrored = await read()
    const lines = mirrored.split('\n')
    const version = lines[0]?.split('-')[0]
    for (const [index, line] of lines.slice(0, -1).entries())
      if (line !== `${version}-${index} ${'x'.repeat(200)}`) throw new Error(`line ${index} is ${line}`)
    expect(`${version}-${lines.length - 1} ${'x'.repeat(200)}\n`.startsWith(lines.at(-1)!)).toBe(true)
    await mirrorFile(file, place, null, { followLink: true })
    const now = readFileSync(file, 'utf8')
    // The file may just have been emptied: then its copy is kept.
    expect(now === '' || (await read()) === now).toBe(true)
    expect(readdirSync(place.dir).filter((name) => name.endsWith('.partial'))).toEqual([])
  }
})

it('while an attempt works, its session is mirrored again and again, one copy at a time, until it ends', async () => {
  const { id: sessionId, agentSessionId } = newSession()
  const calls: unknown[] = []
  let running = 0
  const third = Promise.withResolvers<void>()
  const catchUp = async (...call: unknown[]) => {
    expect(++running).toBe(1)
    calls.push(call)
    await delay(2)
    running--
    if (calls.length === 3) third.resolve()
    return true
  }
  const stop = mirrorDuring({ catchUp }, { sessionId, agentSessionId }, 1)
  await third.promise
  stop()
  const { length } = calls
  expect(calls[0]).toEqual([sessionId, [agentSessionId]])
  await delay(20)
  expect(calls.length).toBeLessThanOrEqual(length + 1)
})
