/** What goes through a shim is what would go to and from the program itself. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { killIfThere } from '../../support/processes.ts'
import { unavailable } from '../sandbox/available.ts'
import { brokered, World } from './world.ts'

for (const what of unavailable) it.skip(`streams with ${what}`, () => {})

describe.each(brokered)('$title', (variant) => {
  function open() {
    const world = new World(variant)
    world.open()
    return world
  }

  it.each([0, 3, 130])('passes on the exit code %i', async (code) => {
    const world = open()
    expect(await world.run(`tool 'exit ${code}'`)).toMatchObject({ code, stdout: '', stderr: '' })
    expect(world.ran()).toEqual([`exit ${code}`])
  })

  it('passes on the end by a signal as a shell does', async () => {
    expect(await open().run(`tool 'kill -9 $$'; echo $?`)).toMatchObject({ stdout: '137\n' })
  })

  it.each([
    ['a pipe', 'echo text | tool cat | cat'],
    ['a file', 'echo text >f; tool cat <f'],
    ['a file after an offset', 'printf "first\\ntext\\n" >f; { read x; tool cat; } <f'],
    ['a deleted file', 'echo text >f; exec 5<f; rm f; tool cat <&5'],
    ['a named FIFO', 'mkfifo fifo; (echo text >fifo) & tool cat <fifo'],
    ['a here document', 'tool cat <<-.\n\ttext\n.'],
  ])('reads %s', async (_, script) => {
    expect(await open().run(script)).toMatchObject({ stdout: 'text\n', stderr: '', code: 0 })
  })

  it.each([
    ['/dev/null', 'tool cat </dev/null; echo $?'],
    ['an empty file', ': >f; tool cat <f; echo $?'],
    ['a directory', 'tool cat <.; echo $?'],
  ])('reads nothing from %s', async (_, script) => {
    expect(await open().run(script)).toMatchObject({ stdout: '0\n', stderr: '' })
  })

  it('has closed streams where the caller has', async () => {
    const closed = 'for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] || printf "$fd " >>closed; done'
    const world = open()
    expect(await world.run(`tool '${closed}' <&- >&- 2>&-`)).toMatchObject({ code: 0 })
    expect(readFileSync(join(world.box.outside, 'closed'), 'utf8')).toBe('0 1 2 ')
  })

  it('reads from a socket, as Node gives to its children', async () => {
    const world = open()
    const script = `require('child_process').spawn('tool', ['cat'], {stdio: ['pipe', 'inherit', 'inherit']}).stdin.end('text')`
    expect(await world.run(`"$NODE" -e "${script}"`)).toMatchObject({ stdout: 'text', stderr: '', code: 0 })
  })

  it('answers while it still reads', async () => {
    const world = open()
    const child = world.start('exec tool "while read x; do echo got \\$x; done"', {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let seen = ''
    child.stdout?.setEncoding('utf8')
    for (const word of ['one', 'two']) {
      child.stdin?.write(`${word}\n`)
      while (!seen.includes(`got ${word}\n`))
        seen += await new Promise((resolve) => child.stdout?.once('data', resolve))
    }
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.stdin?.end()
    expect(await ended).toBe(0)
  })

  it.each([
    ['a file', 'printf "a\\nb\\nc\\n" >list; while read x; do tool "echo $x"; done <list'],
    ['a pipe', 'printf "a\\nb\\nc\\n" | while read x; do tool "echo $x"; done'],
  ])('takes nothing from %s that the program does not read', async (_, script) => {
    expect(await open().run(script)).toMatchObject({ stdout: 'a\nb\nc\n', stderr: '' })
  })

  it.each([
    ['a pipe', '{ tool "echo out"; echo after; } 2>&1 | cat >f'],
    ['a file', '{ tool "echo out"; echo after; } >f'],
    ['a file to append to', 'echo >f out; tool "echo after" >>f'],
    ['a file with both streams', 'tool "echo out; echo after >&2" >f 2>&1'],
    ['files of their own', 'tool "echo out; echo after >&2" >f 2>g; cat g >>f'],
  ])('writes to %s in order', async (_, script) => {
    const world = open()
    expect(await world.run(script)).toMatchObject({ stdout: '', stderr: '', code: 0 })
    expect(readFileSync(join(world.box.work, 'f'), 'utf8')).toBe('out\nafter\n')
  })

  it('keeps stdout and stderr apart', async () => {
    expect(await open().run('tool "echo out; echo err >&2"')).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
    })
  })

  it('ends a program whose output nobody reads any more', async () => {
    const world = open()
    expect(await world.run('tool yes | head -1; tool yes | head -n 1')).toMatchObject({
      stdout: 'y\ny\n',
      stderr: '',
    })
  })

  it('passes 100 MB in and out, through pipes and through files', async () => {
    const world = open()
    writeFileSync(join(world.box.work, 'big'), randomBytes(100 << 20))
    const { stdout } = await world.run(
      'cksum <big; cat big | tool cat | cksum; tool cat <big >copy; cksum <copy; rm copy big',
    )
    const sums = stdout.trim().split('\n')
    expect(new Set(sums).size).toBe(1)
    expect(sums).toHaveLength(3)
  })

  it('uses the terminal of its caller', async () => {
    const world = open()
    const script = `tool '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal; read x; echo got $x'`
    const { stdout } = await world.run(`echo line | script -qec "${script.replaceAll('$', '\\$')}" /dev/null`)
    expect(stdout.replaceAll('\r', '')).toContain('terminal\n')
    expect(stdout.replaceAll('\r', '')).toContain('got line\n')
  })

  it('does not wait for what has left the session of the program', async () => {
    const world = open()
    const leave =
      'setsid sh -c "echo >left; exec sleep 1000" & echo $!; until [ -e left ]; do sleep 0.05; done'
    const { stdout } = await world.run(`tool '${leave}' >f 2>&1; cat f`)
    expect(stdout).toMatch(/^\d+\n$/)
    expect(killIfThere(Number(stdout)), 'it was still running').toBe(true)
  })

  it('ends what the program left in its session', async () => {
    const world = open()
    expect(await world.run(`tool 'sleep 1000 & echo done'`)).toMatchObject({ stdout: 'done\n', code: 0 })
  })
})
