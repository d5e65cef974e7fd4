/** A daemon that is killed at any point neither runs a program twice nor loses a call. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { BrokerEvent } from '../../../src/process/broker/call.ts'
import { killIfThere } from '../../support/processes.ts'
import { eventually } from '../attempts.ts'
import { unavailable } from '../sandbox/available.ts'
import type { DeskOptions } from './desk-process.ts'
import { brokeredForEveryone, World } from './world.ts'

for (const what of unavailable) it.skip(`restarts with ${what}`, () => {})

const DESK = join(import.meta.dirname, 'desk-process.ts')

const canRead = (path: string, uid: number, gid: number) =>
  spawnSync('test', ['-r', path, '-a', '-x', process.execPath], { uid, gid }).status === 0

const never = () => {
  throw new Error('must not be asked again')
}

describe.each(brokeredForEveryone)('$title', (variant) => {
  /** The desk runs as the user of the sandbox, as it does in a daemon, if that user can read this repository. */
  const { uid, gid } = variant.user
  const asUser = uid !== process.getuid?.() && canRead(DESK, uid, gid) ? { uid, gid } : {}

  /** Starts a desk in another process. Returns when it is open. */
  async function startDesk(world: World, dieAt: DeskOptions['dieAt'] = null) {
    const options = { ...world.deskOptions(), dieAt } satisfies DeskOptions
    const child = spawn(process.execPath, [DESK, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      ...asUser,
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const events: BrokerEvent[] = []
    const lines = async () => {
      let rest = ''
      for await (const chunk of child.stdout.setEncoding('utf8')) {
        const [last, ...complete] = `${rest}${chunk}`.split('\n').toReversed()
        rest = last ?? ''
        for (const line of complete.toReversed()) if (line !== 'ready') events.push(JSON.parse(line))
      }
    }
    const over = once(child, 'exit')
    await Promise.race([once(child.stdout, 'readable'), over])
    void lines()
    return { child, events, over }
  }

  async function kill({ child, over }: { child: ChildProcess; over: Promise<unknown> }) {
    child.kill('SIGKILL')
    await over
  }

  const isWaiting = (world: World) =>
    eventually(() => expect(readdirSync(world.asked).some((name) => name.endsWith('.reply'))).toBe(true))
  const isRunning = (world: World) => eventually(() => expect(world.ran()).toHaveLength(1))
  const RESULT = { stdout: 'out\n', stderr: '', code: 5 }
  const CALL = `tool 'echo out; exit 5'`

  it('waits while there is no desk', async () => {
    const world = new World(variant)
    const over = world.run(CALL)
    await isWaiting(world)
    world.open()
    expect(await over).toMatchObject(RESULT)
    expect(world.ran()).toHaveLength(1)
  })

  it('killed while it decides: the next one decides', async () => {
    const world = new World(variant)
    const over = world.run(CALL)
    await (await startDesk(world, 'decide')).over
    expect(world.ran()).toEqual([])
    world.open()
    expect(await over).toMatchObject(RESULT)
    expect(world.ran()).toHaveLength(1)
  })

  it('killed after it has copied the request: it is one call', async () => {
    const world = new World(variant)
    const over = world.run(CALL)
    await eventually(() =>
      expect(readdirSync(world.asked).filter((name) => name.length === 36)).toHaveLength(1),
    )
    const id = readdirSync(world.asked).find((name) => name.length === 36) ?? ''
    let request = readFileSync(join(world.asked, id))
    await eventually(() => {
      request = readFileSync(join(world.asked, id))
      expect(request.toString()).toMatch(/exit 5\0$/)
    })
    await (await startDesk(world, 'decide')).over
    expect(readdirSync(world.private)).toEqual([id])
    writeFileSync(join(world.asked, id), request)
    world.open()
    expect(await over).toMatchObject(RESULT)
    await eventually(() => expect(world.ends()).toHaveLength(1))
    expect([world.ran().length, readdirSync(world.asked)]).toEqual([1, []])
  })

  it('killed before it has copied all of the request: it is copied again', async () => {
    const world = new World(variant)
    const over = world.run(CALL)
    await isWaiting(world)
    const id = basename(readdirSync(world.asked).find((name) => name.endsWith('.reply')) ?? '', '.reply')
    mkdirSync(join(world.private, id))
    writeFileSync(join(world.private, id, 'request.new'), '{"arg')
    world.open()
    expect(await over).toMatchObject(RESULT)
    expect(world.ran()).toHaveLength(1)
  })

  it('killed when the verdict is written: it is not asked again', async () => {
    const world = new World(variant)
    const over = world.run(CALL)
    await (await startDesk(world, 'decided')).over
    expect(world.ran()).toEqual([])
    world.open({ decide: never })
    expect(await over).toMatchObject(RESULT)
    expect(world.ran()).toHaveLength(1)
    await eventually(() => expect(world.events.map(({ type }) => type)).toEqual(['decided', 'ended']))
  })

  it('killed while the program runs: all arrives without a daemon, and is told by the next', async () => {
    const world = new World(variant)
    const over = world.run(`tool 'until [ -e go ]; do sleep 0.05; done; cat; echo out; exit 5' </dev/null`)
    const desk = await startDesk(world)
    await isRunning(world)
    await eventually(() => expect(desk.events).toHaveLength(1))
    await kill(desk)
    writeFileSync(join(world.box.outside, 'go'), '')
    expect(await over).toMatchObject(RESULT)
    world.open({ decide: never })
    await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'exited', code: 5 }]))
    expect(world.ran()).toHaveLength(1)
  })

  it('the next one waits for a program that still runs', async () => {
    const world = new World(variant)
    const over = world.run(`tool 'until [ -e go ]; do sleep 0.05; done; echo out; exit 5' </dev/null`)
    const desk = await startDesk(world)
    await isRunning(world)
    await kill(desk)
    world.open({ decide: never })
    writeFileSync(join(world.box.outside, 'go'), '')
    expect(await over).toMatchObject(RESULT)
    await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'exited', code: 5 }]))
    expect(world.ran()).toHaveLength(1)
  })

  it('killed before the end is told: it is told by the next', async () => {
    const world = new World(variant)
    const over = world.run(CALL)
    await (await startDesk(world, 'ended')).over
    expect(await over).toMatchObject(RESULT)
    world.open({ decide: never })
    await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'exited', code: 5 }]))
    await eventually(() => expect(readdirSync(world.private)).toEqual([]))
    expect(world.ran()).toHaveLength(1)
  })

  it.each([
    ['with the daemon', true],
    ['alone', false],
  ])('the runner is killed %s: the outcome is unknown, and nothing goes on', async (_, withDaemon) => {
    const world = new World(variant)
    const over = world.run(`tool 'sleep 1000' </dev/null`)
    const desk = await startDesk(world)
    await isRunning(world)
    const claim = join(await world.onlyCall(), 'claim')
    if (withDaemon) await kill(desk)
    process.kill(Number(readFileSync(claim, 'utf8').split(' ')[0]), 'SIGKILL')
    if (withDaemon) world.open({ decide: never })
    expect(await over).toMatchObject({
      code: 125,
      stderr: 'tool: outcome unknown, not repeated: what ran it was killed\n',
    })
    expect(world.running()).toEqual([])
    expect(world.ran()).toHaveLength(1)
    const events = withDaemon ? world.events : desk.events
    await eventually(() => expect(events.at(-1)).toMatchObject({ type: 'ended', end: { kind: 'unknown' } }))
  })

  it('the runner is killed after it has written the exit code: the shim is told by the desk', async () => {
    const world = new World(variant)
    const over = world.run(`tool 'sleep 1000' </dev/null`)
    const desk = await startDesk(world)
    await isRunning(world)
    const call = await world.onlyCall()
    await kill(desk)
    process.kill(Number(readFileSync(join(call, 'claim'), 'utf8').split(' ')[0]), 'SIGKILL')
    for (const pid of world.running()) killIfThere(pid)
    writeFileSync(join(call, 'exit'), '7\n')
    world.open({ decide: never })
    expect(await over).toMatchObject({ code: 7, stderr: '' })
  })

  it('the caller dies while there is no desk: what was allowed is not started', async () => {
    const world = new World(variant)
    const over = world.run(`exec tool 'echo out'`)
    await (await startDesk(world, 'decided')).over
    process.kill(await world.shimPid(), 'SIGKILL')
    await over
    world.open({ decide: never })
    await eventually(() =>
      expect(world.ends()).toEqual([{ kind: 'not-started', reason: 'the caller is gone' }]),
    )
    expect(world.ran()).toEqual([])
  })

  it('the machine was restarted after the verdict: the outcome is unknown', async () => {
    const world = new World(variant)
    const over = world.run(CALL)
    await (await startDesk(world, 'decided')).over
    const request = join(await world.onlyCall(), 'request')
    writeFileSync(
      request,
      JSON.stringify({ ...JSON.parse(readFileSync(request, 'utf8')), bootId: 'earlier' }),
    )
    world.open({ decide: never })
    await over
    expect(world.ends()).toEqual([{ kind: 'unknown', reason: 'the machine was restarted' }])
    expect(world.ran()).toEqual([])
  })

  it('a failing engine leaves the call to the next desk', async () => {
    const world = new World(variant)
    const asked = Promise.withResolvers<void>()
    const broker = world.open({
      decide: async () => {
        asked.resolve()
        throw new Error('the daemon is closing')
      },
    })
    const over = world.run(CALL)
    await asked.promise
    await broker.close()
    world.open()
    expect(await over).toMatchObject(RESULT)
  })

  it('two desks at once run every call once', async () => {
    const world = new World(variant)
    world.open()
    world.open()
    const { stdout } = await world.run(`for i in $(seq 20); do tool "echo $i" & done; wait`)
    expect(
      stdout
        .trim()
        .split('\n')
        .map(Number)
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    expect(world.ran()).toHaveLength(20)
  })

  it('killed again and again, at any time: every call runs once and returns', async () => {
    const seed = Math.trunc(Math.random() * 1e9)
    const random = mulberry(seed)
    const world = new World(variant)
    const calls = 12
    const over = world.run(`for i in $(seq ${calls}); do tool "sleep 0.$((i % 5)); exit $i"; echo $?; done`)
    let isOver = false
    void over.then(() => {
      isOver = true
    })
    while (!isOver) {
      const desk = await startDesk(world)
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, random() * 400))])
      if (!isOver) await kill(desk)
    }
    const { stdout } = await over
    const codes = Array.from({ length: calls }, (_, i) => i + 1)
    expect(stdout.trim().split('\n').map(Number), `seed ${seed}`).toEqual(codes)
    expect(world.ran(), `seed ${seed}`).toHaveLength(calls)
  })
})

/** A small generator of random numbers that can be repeated. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
