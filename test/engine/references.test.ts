/** What people may type instead of an id. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { shortId } from '../../src/contract/reference.ts'
import { MemoryChat } from '../support/memory/chat.ts'
import { Stage } from '../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

const start = async (prompt: string) =>
  (await stage.engine.admit({ prompt, workDir: stage.workDir }, null)).run.id
const resolve = (text: string, kind: Parameters<typeof stage.engine.resolve>[1] = null) =>
  stage.engine.resolve(text, kind)

describe('a run is meant by', () => {
  test('its id, its end with and without the prefix, in small letters, and a unique beginning', async () => {
    const other = await start('one')
    const id = await start('two')
    // Ids of the same millisecond may differ in their last character only.
    const beginning = id.slice(0, [...id].findIndex((char, at) => char !== other[at]) + 1)
    for (const text of [id, shortId(id), id.slice(-6), id.slice(-8).toLowerCase(), beginning]) {
      expect(await resolve(text, 'run')).toEqual({ kind: 'run', id })
    }
  })

  test('last, which without a kind means what the newest run is for', async () => {
    await start('one')
    const chat = await MemoryChat.create(stage)
    const turn = await chat.post('hello')
    expect(await resolve('last', 'run')).toEqual({ kind: 'run', id: turn.id })
    expect(await resolve('last')).toEqual({ kind: 'conversation', id: chat.id })
    const id = await start('two')
    expect(await resolve('last')).toEqual({ kind: 'run', id })
  })

  test('the id of the conversation or job that it works for', async () => {
    const chat = await MemoryChat.create(stage)
    const turn = await chat.post('hello')
    expect(await resolve(chat.id, 'run')).toEqual({ kind: 'run', id: turn.id })
    expect(await resolve(shortId(turn.id), 'conversation')).toEqual({ kind: 'conversation', id: chat.id })
    const { job } = await stage.engine.createJob({ prompt: 'work', workDir: stage.workDir }, null)
    expect(await resolve(job.id, 'run')).toEqual({ kind: 'run', id: job.runId })
    expect(await resolve(job.runId, 'job')).toEqual({ kind: 'job', id: job.id })
  })
})

test('what fits several, nothing, or something of another kind is refused with what would be right', async () => {
  const first = await start('one')
  await start('two')
  await expect(resolve(first.slice(0, 8), 'run')).rejects.toMatchObject({
    code: 'bad-request',
    message: `${first.slice(0, 8)} fits several ids`,
    hint: expect.stringContaining('Give more characters: run_'),
  })
  await expect(resolve('run_ZZZZ')).rejects.toMatchObject({ code: 'not-found' })
  await expect(resolve('x y')).rejects.toMatchObject({ code: 'bad-request' })
  await expect(resolve(first, 'job')).rejects.toMatchObject({
    message: `${first} is the id of a run, not of a job, and its run belongs to no job`,
  })
  await expect(resolve('last', 'job')).rejects.toMatchObject({ message: 'there is no job yet' })
})
