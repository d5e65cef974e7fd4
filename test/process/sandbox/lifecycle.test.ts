/** Who ends whom: signals, the keeper's death, and what is left afterwards. Processes are searched from outside. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attemptDir, closeInput, prepare, readExit } from '../../../src/process/attempt-dir.ts'
import { endAttempt } from '../../../src/process/ladder.ts'
import { launch } from '../../../src/process/launch.ts'
import { findProcesses, hasMarker } from '../../../src/process/proc.ts'
import { killIfThere, readProc } from '../../support/processes.ts'
import { eventually } from '../attempts.ts'
import { unavailable, variants } from './available.ts'
import { Box, collect } from './box.ts'

for (const what of unavailable) it.skip(`life cycle with ${what}`, () => {})

describe.each(variants)('$title', ({ means, user }) => {
  let box: Box
  beforeEach(() => {
    box = new Box(means, user)
  })
  afterEach(async () => {
    const left = findProcesses(box.id)
    for (const { pid } of left) killIfThere(pid)
    box.close()
    expect(left, 'processes left behind').toEqual([])
  })

  const pids = () => findProcesses(box.id).map(({ pid }) => pid)
  const goneSoon = () => eventually(() => expect(pids()).toEqual([]))
  const inNamespace = (pid: number) =>
    /^NSpid:\s+(.*)$/m.exec(readProc(pid, 'status'))?.[1]?.split(/\s+/).at(-1)
  /** Leaves a job in a session of its own, and another whose parent is gone. */
  const LEAVES = 'setsid sleep 1000 & (setsid sleep 1000 &) ; echo ready; '

  async function ready(child: ChildProcess): Promise<void> {
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    // `setsid` may not have started its program yet.
    await eventually(() => expect(commands().filter((c) => c.startsWith('sleep 1000'))).toHaveLength(2))
  }
  const commands = () => pids().map((pid) => readProc(pid, 'cmdline').replaceAll('\0', ' '))

  it('is found from outside by its environment', async () => {
    const child = box.start(['sh', '-c', `${LEAVES} wait`])
    const over = collect(child)
    await ready(child)
    expect(pids().filter((pid) => hasMarker(pid, box.id)).length).toBeGreaterThanOrEqual(4)
    child.kill('SIGKILL')
    await over
    await goneSoon()
  })

  it('ends everything inside when the outer process is killed', async () => {
    const child = box.start(['sh', '-c', `${LEAVES} wait`])
    const over = collect(child)
    await ready(child)
    child.kill('SIGKILL')
    expect(await over).toMatchObject({ signal: 'SIGKILL' })
    await goneSoon()
  })

  it('ends everything inside when its process 1 is killed', async () => {
    const child = box.start(['sh', '-c', `${LEAVES} wait`])
    const over = collect(child)
    await ready(child)
    const init = pids().find((pid) => pid !== child.pid && inNamespace(pid) === '1')
    killIfThere(init)
    const { code, signal } = await over
    // util-linux cannot pass this signal on, and ends with 1.
    expect([137, 'SIGKILL', 1]).toContain(signal ?? code)
    await goneSoon()
  })

  it('leaves nothing when the program ends and has left jobs behind', async () => {
    expect(await box.sh(`${LEAVES} exit 3`)).toMatchObject({ code: 3, stdout: 'ready\n' })
    expect(pids()).toEqual([])
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'lets the program handle %s to the group',
    async (signal) => {
      const name = signal.slice(3)
      const script = `trap 'echo got ${name}; exit 7' ${name}; ${LEAVES} while :; do sleep 0.05; done`
      const child = box.start(['sh', '-c', script], { detached: true })
      const over = collect(child)
      await ready(child)
      process.kill(-(child.pid ?? 0), signal)
      expect(await over).toMatchObject({ code: 7, stdout: `ready\ngot ${name}\n` })
      expect(pids()).toEqual([])
    },
  )

  it('ends by SIGTERM to the group if the program does not handle it', async () => {
    const child = box.start(['sh', '-c', `${LEAVES} exec sleep 2000`], { detached: true })
    const over = collect(child)
    await ready(child)
    await eventually(() => expect(commands().some((c) => c.startsWith('sleep 2000'))).toBe(true))
    process.kill(-(child.pid ?? 0), 'SIGTERM')
    expect(await over).toMatchObject({ code: 143 })
    expect(pids()).toEqual([])
  })

  it('reaps orphans', async () => {
    const script =
      'for i in 1 2 3 4 5; do (sh -c "sleep 0.01 &"); done; while grep -qsx sleep /proc/[0-9]*/comm; do :; done; echo done'
    expect(await box.sh(script)).toMatchObject({ stdout: 'done\n' })
  })

  // The keeper is started as the user of this process.
  const underKeeper = it.skipIf(user.uid !== process.getuid?.())
  async function startUnderKeeper(script: string) {
    const dir = attemptDir(box.dir, box.id)
    prepare(dir, [])
    const { command } = box.plan({ program: 'sh', args: ['-c', script] })
    const keeper = await launch({ attemptId: box.id, dir, ...command, env: box.env(), workDir: box.work })
    const output = () => readFileSync(join(dir.path, 'out'), 'utf8')
    await eventually(() => expect(output()).toContain('ready'))
    return { dir, keeper, output }
  }

  underKeeper('passes input, output and exit code through the keeper', async () => {
    const { dir, output } = await startUnderKeeper('echo ready; cat; exit 9')
    await closeInput(dir)
    await eventually(() => expect(readExit(dir)).toMatchObject({ code: 9 }))
    expect(output()).toBe('ready\n')
    await goneSoon()
  })

  underKeeper('is ended by the escalation of signals, politely first', async () => {
    const { keeper, output } = await startUnderKeeper(
      `trap 'echo bye; exit 0' TERM; ${LEAVES} while :; do sleep 0.05; done`,
    )
    const times = { farewellMs: 1, termMs: 10_000, killMs: 10_000 }
    expect(await endAttempt({ attemptId: box.id, keeper, farewell: async () => {}, ...times })).toEqual({
      strays: 0,
      survivors: [],
    })
    expect(output()).toContain('bye')
  })

  underKeeper('is ended by the escalation of signals, by force at last', async () => {
    const { keeper } = await startUnderKeeper(`trap '' TERM; ${LEAVES} while :; do sleep 0.05; done`)
    const times = { farewellMs: 1, termMs: 200, killMs: 10_000 }
    const { survivors } = await endAttempt({ attemptId: box.id, keeper, farewell: async () => {}, ...times })
    expect(survivors).toEqual([])
    expect(pids()).toEqual([])
  })

  underKeeper('dies with its keeper', async () => {
    const { keeper } = await startUnderKeeper(`${LEAVES} wait`)
    process.kill(keeper.pid, 'SIGKILL')
    await eventually(() => expect(commands().filter((c) => c.startsWith('sleep 1000'))).toEqual([]))
    // The holder and the feeder of its input are left, and end by themselves at some time.
    for (const pid of pids()) killIfThere(pid)
    await goneSoon()
  })
})
