/** Commands, as real processes. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { marked } from '../process/attempts.ts'
import { isRunning } from '../support/processes.ts'
import { until } from '../support/world.ts'
import { line, setStage } from './stage.ts'

async function stageWithoutLeaks() {
  const stage = await setStage()
  const ids: string[] = []
  onTestFinished(() => {
    expect(ids.flatMap(marked), 'processes left behind').toEqual([])
  })
  const note: typeof stage.note = async (change) => {
    const notification = await stage.note(change)
    ids.push(notification.id)
    return notification
  }
  const read = (name: string) => {
    const path = join(stage.dir, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  return { ...stage, note, read }
}

describe('a command', () => {
  it('gets the JSON on stdin and the most important as variables; nothing of it is run', async () => {
    const stage = await stageWithoutLeaks()
    await stage.open([
      line(
        'cat >stdin; echo "$REPRISE_EVENT|$REPRISE_JOB_ID|$REPRISE_JOB_STATE|$REPRISE_MESSAGE|$REPRISE_DELIVERY" >variables; env >all',
      ),
    ])
    const message = '$(touch run) `touch run`"; touch run; \''
    const noted = await stage.note({ event: 'failed', payload: { state: 'failed', message } })
    expect(await stage.tried(noted, 1)).toMatchObject({ state: { at: 'delivered' } })
    expect(JSON.parse(stage.read('stdin'))).toEqual({
      id: noted.id,
      event: 'failed',
      at: noted.createdAt.toISOString(),
      job: { state: 'failed', message },
    })
    expect(stage.read('variables')).toBe(`failed|${noted.subject.id}|failed|${message}|${noted.id}\n`)
    expect(existsSync(join(stage.dir, 'run'))).toBe(false)
    expect(stage.read('all')).not.toContain('VITEST')
  })

  it('that fails is run again later; what it wrote is kept, but not logged', async () => {
    const stage = await stageWithoutLeaks()
    await stage.open([
      line('echo "$REPRISE_DELIVERY" >>ids; [ -e ready ] || { echo token=s3cret >&2; exit 7; }'),
    ])
    const noted = await stage.note()
    expect(await stage.tried(noted, 1)).toMatchObject({
      state: { at: 'pending' },
      lastError: 'exit code 7: token=s3cret',
    })
    expect(stage.logged.join()).toContain('exit code 7')
    expect(stage.logged.join()).not.toContain('s3cret')
    await stage.open([line('echo "$REPRISE_DELIVERY" >>ids')])
    await stage.passTime()
    expect(await stage.tried(noted, 2)).toMatchObject({ state: { at: 'delivered' } })
    expect(stage.read('ids')).toBe(`${noted.id}\n${noted.id}\n`)
  })

  it('that hangs is killed with its children, and that was a failed try', async () => {
    const stage = await stageWithoutLeaks()
    await stage.open([line('echo waiting; setsid sleep 1000 & echo $$ $! >pids; wait')], {
      commandTimeoutMs: 3000,
    })
    const noted = await stage.note()
    const failed = await stage.tried(noted, 1)
    expect(failed).toMatchObject({ state: { at: 'pending' }, lastError: 'not finished within 3 s: waiting' })
    const pids = stage.read('pids').trim().split(' ').map(Number)
    expect(pids).toHaveLength(2)
    expect(pids.filter(isRunning)).toEqual([])
  })

  it('does not keep the notifier from closing: it is ended, and stays pending', async () => {
    const stage = await stageWithoutLeaks()
    await stage.open([line("trap '' TERM; echo $$ >pid; sleep 1000; sleep 1000")])
    const noted = await stage.note()
    const pid = Number(await until(() => stage.read('pid').trim(), 'the command to run'))
    await stage.close()
    expect(isRunning(pid)).toBe(false)
    // If it had waited for the command, that would have been a failed try.
    expect(await stage.tried(noted, 0)).toEqual(noted)
  })
})
