/** How a call is handed over, refused, interrupted and ended. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BrokerCall, Verdict } from '../../../src/process/broker/call.ts'
import { endCalls } from '../../../src/process/broker/end-calls.ts'
import { readProc } from '../../support/processes.ts'
import { eventually } from '../attempts.ts'
import { unavailable } from '../sandbox/available.ts'
import { collect } from '../sandbox/box.ts'
import { brokered, World } from './world.ts'

for (const what of unavailable) it.skip(`calls with ${what}`, () => {})

describe.each(brokered)('$title', (variant) => {
  function open() {
    const world = new World(variant)
    world.open()
    return world
  }
  /** Resolves when the program outside has started to wait. */
  const isRunning = (world: World) =>
    eventually(() => expect(readdirSync(world.box.outside)).toContain('waiting'))
  const WAITS = 'echo ready; echo >waiting; while :; do sleep 0.05; done'

  describe('is described to the engine', () => {
    it.each([
      ['nothing', '', []],
      ['empty ones', `'' a ''`, ['', 'a', '']],
      [
        'newlines and quotes',
        `"$(printf 'a\\nb')" "it's" '"' '\\n' '$HOME' '*'`,
        ['a\nb', "it's", '"', '\\n', '$HOME', '*'],
      ],
      ['other languages', `'日本' 'ü'`, ['日本', 'ü']],
      ['options', '-e --version -- -', ['-e', '--version', '--', '-']],
    ])('with its arguments: %s', async (_, text, args) => {
      const world = open()
      const print = 'for arg; do printf "%s\\0" "$arg"; done'
      const { stdout } = await world.run(`tool '${print}' ${text}`)
      expect(Buffer.from(stdout, 'latin1').toString().split('\0').slice(0, -1)).toEqual(args)
      const [event] = world.events
      expect(event).toMatchObject({ type: 'decided', call: { program: 'tool', args: [print, ...args] } })
    })

    it('with 10,000 arguments', async () => {
      expect(await open().run(`tool 'echo $#' $(seq 10000)`)).toMatchObject({ stdout: '10000\n' })
    })

    it('with its directory', async () => {
      const world = open()
      await world.run(`mkdir -p 'a b/c'; cd 'a b/c'; tool true`)
      expect(world.events[0]?.call).toMatchObject({ cwd: join(world.box.work, 'a b/c') })
    })

    it('once decided and once ended', async () => {
      const world = open()
      await world.run(`tool 'exit 4'`)
      await eventually(() => expect(world.events).toHaveLength(2))
      const [decided, ended] = world.events
      expect(decided).toMatchObject({ type: 'decided', verdict: { decision: 'run' } })
      const end = { kind: 'exited', code: 4, callerGone: false }
      expect(ended).toMatchObject({ type: 'ended', end, durationMs: expect.any(Number) })
      expect(ended?.call).toEqual(decided?.call)
      await eventually(() => expect([readdirSync(world.private), readdirSync(world.asked)]).toEqual([[], []]))
    })
  })

  it('runs what the verdict says, with its environment and directory only', async () => {
    const world = new World(variant)
    const path = world.addProgram('other', 'pwd; echo "$*"; env')
    world.open({
      decide: async (call) => ({
        ...world.allow(call),
        decision: 'run',
        program: path,
        args: ['x', 'y'],
        cwd: '/usr',
        env: { GIVEN: '1', dir: '2' },
      }),
    })
    const { stdout } = await world.run('SECRET=1 tool a b c')
    const [cwd, args, ...env] = stdout.trim().split('\n')
    expect([cwd, args]).toEqual(['/usr', 'x y'])
    // The shell that starts it adds its directory, and the one that runs the script may add more of that kind.
    expect(env.filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line)).toSorted()).toEqual([
      'GIVEN=1',
      'dir=2',
    ])
  })

  describe('is refused', () => {
    it('with the reason', async () => {
      const world = new World(variant)
      const reason = 'not at this tier\nsee \\n the rules'
      world.open({ decide: async () => ({ decision: 'deny', reason }) })
      expect(await world.run('tool x')).toMatchObject({
        code: 126,
        stdout: '',
        stderr: `tool: refused by Reprise: ${reason}\n`,
      })
      await eventually(() => expect(readdirSync(world.asked)).toEqual([]))
      expect(world.ran()).toEqual([])
      expect(world.events).toMatchObject([{ type: 'decided', verdict: { decision: 'deny', reason } }])
    })

    it('and nothing is taken from its input', async () => {
      const world = new World(variant)
      world.open({ decide: async () => ({ decision: 'deny', reason: 'no' }) })
      const { stdout } = await world.run('echo kept | { tool x; cat; }')
      expect(stdout).toBe('kept\n')
    })

    it('if an argument is not UTF-8', async () => {
      const world = open()
      const { code, stderr } = await world.run(`tool "$(printf 'a\\377b')"`)
      expect({ code, stderr }).toMatchObject({
        code: 126,
        stderr: expect.stringContaining('not valid UTF-8'),
      })
      expect(world.ran()).toEqual([])
    })

    it('under a name that is not brokered', async () => {
      const world = open()
      const { code, stderr } = await world.run(`ln -s "$(command -v tool)" other; ./other 'echo x'`)
      expect({ code, stderr }).toMatchObject({
        code: 126,
        stderr: expect.stringContaining('other is not one of'),
      })
      expect(world.ran()).toEqual([])
    })

    it('if the program is not installed', async () => {
      const world = open()
      const { code, stderr } = await world.run('missing')
      expect({ code, stderr }).toMatchObject({
        code: 126,
        stderr: expect.stringContaining('is not installed'),
      })
      await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'not-started' }]))
    })

    it('if the directory outside does not exist', async () => {
      const world = new World(variant)
      world.open({ decide: async (call) => ({ ...world.allow(call), cwd: '/does/not/exist' }) as Verdict })
      expect(await world.run('tool true')).toMatchObject({
        code: 126,
        stderr: expect.stringContaining('not started'),
      })
    })
  })

  it('serves twenty callers at once', async () => {
    const world = open()
    const { stdout } = await world.run(
      'for i in $(seq 20); do tool "cat; exit $i" <<-. >out.$i &\n$i\n.\npids="$pids $!"; done\n' +
        'for pid in $pids; do wait $pid; echo $?; done; cat out.*',
    )
    const all = Array.from({ length: 20 }, (_, i) => String(i + 1))
    expect(stdout.trim().split('\n').slice(0, 20)).toEqual(all)
    expect(stdout.trim().split('\n').slice(20).toSorted()).toEqual(all.toSorted())
    expect(world.ran()).toHaveLength(20)
  })

  describe.each(['TERM', 'INT', 'HUP'])('SIG%s', (name) => {
    it('reaches the program, whose own end counts', async () => {
      const world = open()
      const child = world.start(
        // A shell without job control starts background jobs with SIGINT ignored.
        `env --default-signal=${name} tool 'trap "echo got ${name}; exit 7" ${name}; ${WAITS}' >f & pid=$!
         until grep -qs ready f; do sleep 0.05; done; kill -${name} $pid; wait $pid; echo $?; cat f`,
      )
      expect(await collect(child)).toMatchObject({ stdout: `7\nready\ngot ${name}\n` })
    })

    it('ends caller and program alike if the program does not handle it', async () => {
      const world = open()
      const child = world.start(`exec env --default-signal=${name} tool '${WAITS}' </dev/null`)
      const over = collect(child)
      await isRunning(world)
      const number = { TERM: 15, INT: 2, HUP: 1 }[name] ?? 0
      const shim = await world.shimPid()
      // The program may run before the shim has heard of it. Until then, a signal ends the shim, and the program gets SIGTERM.
      await eventually(() => expect(hasHandler(shim, number)).toBe(true))
      process.kill(shim, `SIG${name}` as NodeJS.Signals)
      const { code, signal } = await over
      expect(signal ?? code).toBeOneOf([`SIG${name}`, 128 + number])
      await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'exited', code: 128 + number }]))
      await eventually(() => expect(world.running()).toEqual([]))
    })
  })

  it('ends before it is decided when the caller is terminated', async () => {
    const world = new World(variant)
    const asked = Promise.withResolvers<{ call: BrokerCall; signal: AbortSignal }>()
    world.open({
      decide: (call, signal) => {
        asked.resolve({ call, signal })
        return new Promise(() => {})
      },
    })
    const over = collect(world.start('exec tool true'))
    const { signal } = await asked.promise
    process.kill(await world.shimPid(), 'SIGTERM')
    await over
    await eventually(() => expect(signal.aborted).toBe(true))
    await eventually(() =>
      expect(world.ends()).toEqual([{ kind: 'not-started', reason: 'the caller is gone' }]),
    )
    expect(world.ran()).toEqual([])
  })

  it.each([
    ['politely', 'trap "echo ended >ended; exit" TERM;'],
    ['by force if need be', 'trap "" TERM; echo ended >ended;'],
  ])('ends the program %s when the caller is killed', async (_, handler) => {
    const world = open()
    // A shell says on stderr that its sleep was ended. Writing to a pipe that nobody reads any more would end it, too.
    const script = `exec 2>/dev/null; ${handler} echo >up; while :; do sleep 0.05; done`
    const over = collect(world.start(`exec tool '${script}' </dev/null`))
    await eventually(() => expect(readdirSync(world.box.outside)).toContain('up'))
    process.kill(await world.shimPid(), 'SIGKILL')
    await over
    await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'exited', callerGone: true }]))
    expect(readFileSync(join(world.box.outside, 'ended'), 'utf8')).toBe('ended\n')
    await eventually(() => expect(world.running()).toEqual([]))
  })

  it('does not take the input of a caller that is killed for complete', async () => {
    const world = open()
    // A file is copied, and this one does not fit into the pipe. The program would act at the end of its input.
    const program =
      'trap "" TERM; head -c 9 >read; until [ -e go ]; do sleep 0.05; done; cat >/dev/null && echo acted >acted'
    const script = `head -c 300000 /dev/zero >f; exec tool '${program}' <f`
    const over = collect(world.start(script))
    await eventually(() => expect(readdirSync(world.box.outside)).toContain('read'))
    process.kill(await world.shimPid(), 'SIGKILL')
    await over
    writeFileSync(join(world.box.outside, 'go'), '')
    await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'exited', callerGone: true }]))
    expect(readdirSync(world.box.outside)).not.toContain('acted')
  })

  it('ends with its sandbox', async () => {
    const world = open()
    const child = world.start(`tool '${WAITS}' </dev/null`, { detached: true })
    const over = collect(child)
    await isRunning(world)
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await over
    await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'exited', callerGone: true }]))
    await eventually(() => expect(world.running()).toEqual([]))
  })

  it('is ended from outside by endCalls', async () => {
    const world = open()
    const over = world.run(`tool '${WAITS}' </dev/null; echo $?`)
    await isRunning(world)
    expect(await endCalls(world.private, 60_000)).toBe(1)
    expect(world.running()).toEqual([])
    expect(await over).toMatchObject({ stdout: 'ready\n143\n' })
    await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'exited', code: 143 }]))
  })

  it('hands over a line that the shim does not know', async () => {
    const world = new World(variant)
    world.open({ decide: async (call) => ({ ...world.allow(call), after: 'fetch refs' }) as Verdict })
    expect(await world.run('tool "echo x"')).toMatchObject({ stdout: 'x\n', stderr: '', code: 0 })
  })
})

function hasHandler(pid: number, signal: number): boolean {
  const [, caught = '0'] = /^SigCgt:\s+(\w+)$/m.exec(readProc(pid, 'status')) ?? []
  return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n
}
