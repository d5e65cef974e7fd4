/** An agent that writes requests by hand, and lies. Whatever it does, the next honest call works. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../attempts.ts'
import { unavailable } from '../sandbox/available.ts'
import { brokered, World } from './world.ts'

for (const what of unavailable) it.skip(`hostile callers with ${what}`, () => {})

const UUID = '$(cat /proc/sys/kernel/random/uuid)'

/** Makes everything that a shim makes. Then come the lies, then `ask`. */
const FORGE = `
id=${UUID}
mkfifo "$ASKED/$id.reply" "$ASKED/$id.life"
exec 3<>"$ASKED/$id.reply" 5<>"$ASKED/$id.life" 4>"$ASKED/$id.life" 5>&-
exec 7</dev/null 8>/dev/null 9>/dev/null
pid=$$ stdin=open stdout=open stderr=open program=tool count=1
ask() {
  printf '%s\\0' "$PWD" "$program" "$pid" $stdin $stdout $stderr $count 'echo HARM; echo HARM >&2' >"$ASKED/$id"
  while read -r word rest <&3; do
    [ "$word" = wake ] && continue
    echo "$word $rest"
    [ "$word" = started ] || break
  done
}
`

describe.each(brokered)('$title', (variant) => {
  const isEnclosed = variant.means.kind !== 'none'

  function open() {
    const world = new World(variant)
    world.open()
    return world
  }
  const stillWorks = async (world: World) =>
    expect(await world.run('tool "echo fine"')).toMatchObject({ stdout: 'fine\n', stderr: '', code: 0 })

  it('accepts what is forged well, as it accepts a shim', async () => {
    expect(await open().run(`${FORGE} ask`)).toMatchObject({ stdout: 'started \nexit 0\n' })
  })

  it.each([
    ['a symbolic link', 'ln -s "$OUTSIDE/file" "$ASKED/$id"'],
    ['a hard link', 'echo x >own; ln own "$ASKED/$id"'],
    ['a FIFO', 'mkfifo "$ASKED/$id"'],
    ['a folder', 'mkdir "$ASKED/$id"'],
    [
      'a folder in the place of the reply',
      'rm "$ASKED/$id.reply"; mkdir "$ASKED/$id.reply"; echo >"$ASKED/$id"',
    ],
    ['a link in the place of the reply', 'ln -sf "$OUTSIDE/file" "$ASKED/$id.reply"; echo >"$ASKED/$id"'],
    [
      'a file in the place of the reply',
      'rm "$ASKED/$id.reply"; cp own.txt "$ASKED/$id.reply"; echo >"$ASKED/$id"',
    ],
    ['a huge file', 'head -c 20000000 /dev/zero >"$ASKED/$id"'],
    ['a huge sparse file', 'truncate -s 1T "$ASKED/$id"'],
    ['an unfinished request', 'printf "/x\\0tool\\0" >"$ASKED/$id"'],
    ['names that are none', 'echo x >"$ASKED/..x"; echo x >"$ASKED/$id.x"; mkdir "$ASKED/-"'],
  ])('is not disturbed by %s', async (_, lie) => {
    const world = open()
    await world.run(`${FORGE} ${lie}; tool "echo after" >after; cat after`).then(({ stdout }) => {
      expect(stdout).toBe('after\n')
    })
    expect(readFileSync(join(world.box.outside, 'file'), 'utf8')).toBe('original\n')
    expect(world.ran()).toEqual(['echo after'])
    await stillWorks(world)
  })

  it.each([
    ['pid=1', /caller is gone/],
    ['pid=$PPID', /caller is gone/],
    ['pid=99999999', /caller is gone/],
    ['pid=../../1', /malformed/],
    ['pid=0', /malformed/],
    ['pid=-1', /malformed/],
    ['stdin=/etc/passwd', /malformed/],
    ['stdout="open;id"', /malformed/],
    ['count=0', /malformed/],
    ['program=../../bin/sh', /not one of the programs/],
    ['program=', /not one of the programs/],
    ['exec 3<&- 3<>/dev/null; mkfifo other; exec 6<>other', /^$/],
  ])('runs nothing for a request with %s', async (lie, answer) => {
    const world = open()
    const { stdout } = await world.run(`${FORGE} ${lie}; ask`)
    expect(stdout.trim().split('\n').join()).toMatch(answer)
    expect(world.ran()).toEqual([])
    await stillWorks(world)
  })

  it.each([
    ['a file that it may only read as stdout', 'exec 8<"$OUTSIDE/file"'],
    ['a file that it may only read as stderr', 'exec 9<"$OUTSIDE/file"'],
    ['a file of its own as stdout', 'exec 8<>own.txt'],
    ['a file as stdin', 'exec 7<"$OUTSIDE/file"'],
    ['a folder as stdin', 'exec 7<"$OUTSIDE"'],
    ['its memory as stdout', 'exec 8</proc/$$/mem'],
    ['nothing as stdout', 'exec 8>&-'],
    ['a file as its lifeline', 'exec 4<own.txt'],
    ['a file as a copied stdin', 'stdin=copied; exec 7<own.txt'],
    ['a device as a copied stdin', 'stdin=copied; exec 7</dev/zero'],
  ])('does not open %s', async (_, lie) => {
    const world = open()
    const { stdout } = await world.run(`${FORGE} ${lie}; ask`)
    expect(stdout).toMatch(/^fail 126 not started/)
    expect(world.ran()).toEqual([])
    const read = (path: string) => readFileSync(join(world.box.home, path), 'utf8')
    expect([read('outside/file'), read('work/own.txt')]).toEqual(['original\n', 'mine\n'])
    await eventually(() => expect(world.ends()).toMatchObject([{ kind: 'not-started' }]))
    await stillWorks(world)
  })

  it('does not wait for a FIFO that nobody reads', async () => {
    const world = open()
    const script = `${FORGE} mkfifo silent; exec 6<>silent 8>silent 6>&-; ask; tool 'echo after' | cat`
    // The program is ended by SIGPIPE, as it would be inside.
    expect(await world.run(script)).toMatchObject({ stdout: expect.stringMatching(/after\n$/) })
  })

  it('does not lose its runner to a caller that does not read its replies', async () => {
    const world = open()
    const fill = 'i=0; while [ $i -lt 16 ]; do head -c 4096 /dev/zero >&3; i=$((i + 1)); done'
    const child = world.start(
      `${FORGE} ${fill}; printf '%s\\0' "$PWD" tool $$ open open open 1 true >"$ASKED/$id"; cat`,
      {
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    )
    const folder = await world.onlyCall()
    await eventually(() => expect(existsSync(join(folder, 'claim'))).toBe(true))
    const over = new Promise((resolve) => child.once('close', resolve))
    child.stdin?.end()
    await over
    await eventually(() => expect(world.ends()).toHaveLength(1))
    await eventually(() => expect(world.running()).toEqual([]))
  })

  it('goes on when requests come faster than they are answered', async () => {
    const world = open()
    const flood = `for i in $(seq 400); do mkfifo "$ASKED/x.$i"; echo x >"$ASKED/${UUID}"; done 2>/dev/null`
    await world.run(flood)
    await stillWorks(world)
  })

  it('goes on while a large request grows byte by byte', async () => {
    const world = open()
    const grow = `head -c 7000000 /dev/zero | tr '\\0' x >"$ASKED/$id"; while :; do printf x; done >>"$ASKED/$id" & grower=$!`
    const { stdout } = await world.run(`${FORGE} ${grow}; tool 'echo fine' | cat; kill $grower`)
    expect(stdout).toBe('fine\n')
  })

  it.skipIf(!isEnclosed)('does not see what the broker knows', async () => {
    const world = new World(variant)
    mkdirSync(join(world.private, 'x'))
    writeFileSync(join(world.private, 'x', 'verdict'), 'SECRET')
    chmodSync(world.private, 0o755)
    const { stdout } = await world.run(
      `cat "$PRIVATE"/*/* 2>/dev/null; ls -A "$PRIVATE" 2>/dev/null; echo x >"$PRIVATE/y" 2>/dev/null || echo refused`,
    )
    expect(stdout).toBe('refused\n')
  })

  it.skipIf(!isEnclosed)('reaches no process outside, whatever pid it names', async () => {
    const world = open()
    // This process has the number inside too, if numbers were taken for those outside.
    const { stdout } = await world.run(`${FORGE} pid=${process.pid}; ask`)
    expect(stdout).toMatch(/caller is gone/)
    expect(world.ran()).toEqual([])
  })

  it.skipIf(!isEnclosed)('cannot replace a shim', async () => {
    const world = open()
    const { stdout } = await world.run(
      'shim=$(command -v tool); { echo x >"$shim" || rm -f "$shim" || mv "$shim" x; } 2>/dev/null || echo refused',
    )
    expect(stdout).toBe('refused\n')
    await stillWorks(world)
  })
})
