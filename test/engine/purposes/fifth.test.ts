/** A further purpose, added without touching the path: it changes context, budget and ending. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunId } from '../../../src/contract/ids.ts'
import { createDigestPurpose, markDigest } from '../../support/digest/purpose.ts'
import { answers, type Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open({ purposes: createDigestPurpose })
})
afterEach(() => stage.close())

async function admit(maxTokens = 1_000_000) {
  const mark = markDigest({ topic: 'news', before: 'old news', maxTokens, webhook: 'http://127.0.0.1:1/' })
  const { run } = await stage.engine.admit({ prompt: 'write it', workDir: stage.workDir }, 'digest', mark)
  return run.id
}

const publishing = async (id: RunId) => {
  const others = async () => (await stage.engine.listRuns({ limit: 10 })).items.filter((run) => run.id !== id)
  await stage.until(async () => (await others()).some(({ state }) => state === 'settled'))
  return others()
}

test('its agent is given the brief and the past, and what it ends with is stored with the end', async () => {
  stage.play(answers('fresh news'), answers('published'))
  const id = await admit()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', carry: 'transcript' })
  expect(await publishing(id)).toMatchObject([{ prompt: 'Publish this: fresh news', resumed: true }])
  const [digest, publish] = stage.processes.starts()
  expect(digest?.prompt.join('\n')).toMatch(/You write the digest of news.*old news.*write it$/s)
  expect(publish?.prompt).toEqual(['Publish this: fresh news'])
  // People can read what it was told besides its prompt.
  expect(await stage.eventsOf(id, 'context-add')).toMatchObject([{ texts: digest?.prompt.slice(0, -1) }])
  expect(stage.told).toMatchObject([
    { event: 'done', payload: { message: 'the digest of news: fresh news' } },
  ])
})

test('its budget ends it, people are told, and nothing is published', async () => {
  const spends: Script = async (agent) => {
    await agent.begin()
    agent.callModel(5000)
    return new Promise(() => {})
  }
  stage.play(spends)
  expect(await stage.settled(await admit(1000))).toMatchObject({ outcome: 'budget' })
  expect(stage.told).toMatchObject([{ event: 'failed', payload: { state: 'budget' } }])
  expect((await stage.engine.listRuns({ limit: 10 })).items).toHaveLength(1)
})

test.each(['before', 'after'] as const)(
  'killed %s its end is stored, it ends once all the same',
  async (when) => {
    stage.play(answers('fresh news'), answers('published'))
    const id = await admit()
    stage.life.endAt(when, 'endAttempt')
    await stage.life.over
    await stage.reopen()
    expect(await stage.settled(id)).toMatchObject({ outcome: 'completed' })
    expect(await publishing(id)).toHaveLength(1)
    expect(stage.processes.starts()).toHaveLength(2)
  },
)
