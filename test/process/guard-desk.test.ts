import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { eventually, exists, fixture } from './attempts.ts'
import { allow, deny, Guarded, Questions } from './guarded.ts'

describe('while nobody answers', () => {
  it('nothing is started; the next desk is asked, once', async () => {
    const world = new Guarded({ docker: 'touch ran' })
    const first = new Questions()
    const desk = world.openDesk(first.decide)
    const { ended } = world.start('docker', ['x'])
    const question = await first.next()
    desk.close()
    expect(question.signal.aborted).toBe(true)
    question.answer(allow)
    const second = new Questions()
    const delivered = vi.fn()
    world.openDesk(second.decide, delivered)
    const again = await second.next()
    expect(again.request).toEqual(question.request)
    expect(exists(join(world.workDir, 'ran'))).toBe(false)
    again.answer(allow)
    expect((await ended).code).toBe(0)
    expect(delivered).toHaveBeenCalledExactlyOnceWith(again.request, allow)
    expect([first.unseen, second.unseen, world.litter()]).toEqual([0, 0, []])
  })

  it('nothing is started either if the daemon was killed', async () => {
    const world = new Guarded({ docker: 'touch ran' })
    const daemon = world.start(process.execPath, [fixture('never-answers-guards.mjs'), world.dir])
    const { ended } = world.start('docker')
    await once(daemon.child.stdout!, 'data')
    daemon.child.kill('SIGKILL')
    await daemon.ended
    expect(exists(join(world.workDir, 'ran'))).toBe(false)
    const asked = world.answer(deny('no'))
    expect((await ended).code).toBe(126)
    expect(asked).toHaveLength(1)
    expect(exists(join(world.workDir, 'ran'))).toBe(false)
  })

  it('what is asked before there is a desk is found', async () => {
    const world = new Guarded({ docker: 'echo ran' })
    const all = Array.from({ length: 5 }, () => world.run('docker'))
    await world.asking(5)
    const asked = world.answer(allow)
    for (const { code } of await Promise.all(all)) expect(code).toBe(0)
    expect([asked.length, world.litter()]).toEqual([5, []])
  })

  const spoilers: Record<string, (world: Guarded) => void> = {
    'is gone': ({ asked }) => rmSync(asked, { recursive: true }),
    'is a file': ({ asked }) => {
      rmSync(asked, { recursive: true })
      writeFileSync(asked, '')
    },
    // Root can write everywhere.
    ...(process.getuid?.() === 0 ? {} : { 'cannot be written to': ({ asked }) => chmodSync(asked, 0o500) }),
  }
  it.each(Object.entries(spoilers))('and the directory %s, the program is refused', async (_, spoil) => {
    const world = new Guarded({ docker: 'touch ran' })
    spoil(world)
    expect(await world.run('docker')).toMatchObject({
      code: 126,
      stderr: 'docker: refused: Reprise cannot be asked\n',
    })
    expect(exists(join(world.workDir, 'ran'))).toBe(false)
  })

  it.each(['', 'ALLOW\n', 'allowed\n', '\n', 'allow docker', 'yes\nallow\n'])(
    'a reply of %j starts nothing',
    async (text) => {
      const world = new Guarded({ docker: 'touch ran' })
      const { child, ended } = world.start('docker')
      await world.asking(1)
      const fifo = world.litter().find((name) => name.endsWith('.reply'))!
      writeFileSync(join(world.asked, fifo), text)
      if (!text.includes('\n')) child.kill()
      expect((await ended).code).not.toBe(0)
      expect(exists(join(world.workDir, 'ran'))).toBe(false)
    },
  )
})

describe('a guard that is killed', () => {
  it('while it waits is noticed, not counted as started, and leaves nothing', async () => {
    const world = new Guarded({ docker: '' })
    const questions = new Questions()
    const delivered = vi.fn()
    world.openDesk(questions.decide, delivered)
    const { child, ended } = world.start('docker')
    const { signal, answer } = await questions.next()
    child.kill('SIGKILL')
    await ended
    if (!signal.aborted) await once(signal, 'abort')
    answer(allow)
    expect(world.litter()).toEqual([])
    expect(delivered).not.toHaveBeenCalled()
  })

  it('just before its answer comes, likewise', async () => {
    const world = new Guarded({ docker: '' })
    const questions = new Questions()
    const delivered = vi.fn()
    world.openDesk(questions.decide, delivered)
    const { child, ended } = world.start('docker')
    const { answer } = await questions.next()
    child.kill('SIGKILL')
    await ended
    answer(allow)
    await eventually(() => expect(world.litter()).toEqual([]))
    expect(delivered).not.toHaveBeenCalled()
  })

  it('while there is no desk is ignored by the next', async () => {
    const world = new Guarded({ docker: '' })
    const { child, ended } = world.start('docker')
    await world.asking(1)
    child.kill('SIGKILL')
    await ended
    const asked = world.answer(allow)
    expect([asked, world.litter()]).toEqual([[], []])
  })

  it('at any moment delays no other', async () => {
    const world = new Guarded({ docker: 'exit 0' })
    const asked = world.answer(allow)
    const ends: (number | null)[] = []
    for (let round = 0; round < 60; round++) {
      const { child, ended } = world.start('docker')
      // Spread over the time that a guard takes.
      const until = performance.now() + (round % 20) / 4
      while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve))
      child.kill('SIGKILL')
      ends.push((await ended).code)
    }
    process.stdout.write(
      `${asked.length} of 60 killed guards had asked, ${ends.filter((c) => c === 0).length} ran\n`,
    )
    await eventually(() => expect(world.litter().filter((name) => !name.endsWith('.reply'))).toEqual([]))
    expect((await world.run('docker')).code).toBe(0)
  })

  it('before it has asked leaves no files for long', async () => {
    const world = new Guarded({ docker: '' })
    const [half, lonely] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
    for (const id of [half, lonely]) spawnSync('mkfifo', [join(world.asked, `${id}.reply`)])
    writeFileSync(join(world.asked, half), '/x\n\0docker\0')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const asked = world.answer(allow)
      expect(world.litter()).toEqual([`${lonely}.reply`])
      await vi.advanceTimersByTimeAsync(5000)
      expect(world.litter()).toEqual([`${lonely}.reply`])
      await vi.advanceTimersByTimeAsync(60_000)
      expect([asked, world.litter()]).toEqual([[], []])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a desk', () => {
  it('answers fifty at once, each with its own answer', async () => {
    const world = new Guarded({ docker: 'echo "$1"' })
    const questions = new Questions()
    world.openDesk(questions.decide)
    const all = Array.from({ length: 50 }, (_, i) => world.run('docker', [String(i)]))
    const open = await Promise.all(all.map(() => questions.next()))
    for (const { request, answer } of open.reverse())
      answer(Number(request.args[0]) % 2 ? allow : deny(request.args[0]!))
    for (const [i, { code, stdout, stderr }] of (await Promise.all(all)).entries()) {
      if (i % 2) expect([code, stdout.toString()]).toEqual([0, `${i}\n`])
      else expect([code, stderr]).toEqual([126, `docker: refused by Reprise: ${i}\n`])
    }
    expect(world.litter()).toEqual([])
    expect(openFiles().filter((path) => path.startsWith(world.root))).toEqual([])
  })

  it('is not disturbed by other files in the folder', async () => {
    const world = new Guarded({ docker: '' })
    const id = (n: number) => join(world.asked, `${String(n).repeat(8)}-0000-4000-8000-000000000000`)
    spawnSync('mkfifo', [id(1), id(2), `${id(2)}.reply`])
    symlinkSync('/dev/zero', id(3))
    symlinkSync('/dev/zero', `${id(3)}.reply`)
    mkdirSync(join(world.asked, 'folder'))
    mkdirSync(join(id(5), 'folder'), { recursive: true })
    writeFileSync(id(4), 'no request')
    writeFileSync(`${id(4)}.reply`, 'no pipe')
    const asked = world.answer(allow)
    expect((await world.run('docker')).code).toBe(0)
    expect(asked).toHaveLength(1)
    expect(world.litter()).toEqual(['folder'])
  })

  it('polls if change notifications do not arrive', async () => {
    const world = new Guarded({ docker: '' })
    // Recreated after the desk has begun to watch: no change notification comes from there.
    rmSync(world.asked, { recursive: true })
    const asked = world.answer(allow)
    mkdirSync(world.asked)
    expect((await world.run('docker')).code).toBe(0)
    expect(asked).toHaveLength(1)
  })

  const openFiles = () =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)]
      } catch {
        return []
      }
    })
})
