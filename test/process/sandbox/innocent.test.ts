/** What an agent does all day works inside, on every sandbox that works here. */
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installed, unavailable, variants } from './available.ts'
import { Box, collect, SECRET } from './box.ts'

for (const what of unavailable) it.skip(`innocent programs with ${what}`, () => {})

describe.each(variants)('$title', ({ means, user }) => {
  let box: Box
  beforeAll(() => {
    box = new Box(means, user)
  })
  afterAll(() => box.close())

  const prints = async (script: string, expected: string | RegExp) => {
    const { stdout, stderr, code } = await box.sh(script)
    expect({ stdout: stdout.trim(), stderr, code }).toEqual({
      stdout: typeof expected === 'string' ? expected : expect.stringMatching(expected),
      stderr: '',
      code: 0,
    })
  }

  it('has the id, the directory and the environment of the user', () =>
    prints('id -u; pwd; echo "$WORK"; test -w .', `${user.uid}\n${box.work}\n${box.work}`))

  it('commits with git', () =>
    prints(
      'git init -q repo && cd repo && echo x >f && git add f && git -c user.name=a -c user.email=a@b commit -qm m && git status --short && git log --oneline | wc -l',
      '1',
    ))

  it('runs interpreters, pipes and background jobs', () =>
    prints(
      '"$NODE" -p 1+1; (sleep 0.01; echo late >late) & echo a b c | tr a-c A-C | sort; wait; cat late',
      '2\nA B C\nlate',
    ))

  it.skipIf(!existsSync('/usr/bin/python3'))('runs python', () =>
    prints('/usr/bin/python3 -c "print(2+2)"', '4'),
  )

  it.skipIf(!existsSync('/usr/bin/npm'))('runs npm', () => prints('npm --version 2>/dev/null', /^\d+\.\d+/))

  it('writes to /tmp and to private folders, which last from one start to the next', async () => {
    await prints('echo kept >/tmp/note; echo cached >~/.cache/note; mktemp >/dev/null', '')
    await prints('cat /tmp/note ~/.cache/note', 'kept\ncached')
    expect(readFileSync(join(box.tmp, 'note'), 'utf8')).toBe('kept\n')
    expect(readFileSync(join(box.cache, 'note'), 'utf8')).toBe('cached\n')
    expect(existsSync(join(box.home, '.cache'))).toBe(false)
  })

  it('uses terminals, shared memory and devices', () =>
    prints(
      'echo x >/dev/shm/x && cat /dev/shm/x; head -c 3 /dev/zero | wc -c; echo gone >/dev/null; test -c /dev/tty',
      'x\n3',
    ))

  it.skipIf(!installed('script'))('opens a pseudo-terminal', () =>
    prints('script -qec "test -t 1 && echo terminal" /dev/null', 'terminal'),
  )

  it('sees read-only files, and the rest of its folders', () =>
    prints(
      'cat ~/.profile ~/outside/file sub/locked.txt; echo new >sub/new; cat sub/new; ls ~/.config',
      'original\noriginal\noriginal\nnew',
    ))

  it('passes 100 MB through stdin and stdout', async () => {
    const child = box.start(['cat'], { stdio: ['pipe', 'pipe', 'pipe'] })
    const chunk = Buffer.alloc(1 << 20, 'x')
    let received = 0
    child.stdout?.on('data', (data: Buffer) => {
      received += data.length
    })
    const over = new Promise((resolve) => child.once('close', resolve))
    for (let i = 0; i < 100; i++)
      if (!child.stdin?.write(chunk)) await new Promise((resolve) => child.stdin?.once('drain', resolve))
    child.stdin?.end()
    expect(await over).toBe(0)
    expect(received).toBe(100 << 20)
  })

  it.each([0, 1, 42, 125, 255])('passes the exit code %i', async (code) => {
    expect(await box.sh(`exit ${code}`)).toMatchObject({ code, signal: null })
  })

  it('gives the shell’s codes for a program that is killed, or is not there', async () => {
    expect(await box.sh('kill -KILL $$')).toMatchObject({ code: 137 })
    expect(await box.sh('kill -TERM $$')).toMatchObject({ code: 143 })
    expect(await box.run(['no-such-program-anywhere'])).toMatchObject({ code: 127 })
  })

  it('passes arguments as they are', async () => {
    const args = ['', ' a  b ', '--', '-x', 'new\nline', '"quoted"', "it's", '$HOME', '*', 'ü']
    const { stdout } = await box.run(['printf', '%s|', ...args])
    expect(Buffer.from(stdout, 'latin1').toString()).toBe(args.map((arg) => `${arg}|`).join(''))
  })

  it('reaches the loopback interface of its own without a network', async () => {
    const code =
      'const s=require("net").createServer(c=>c.end("hi")).listen(0,"127.0.0.1",()=>require("net").connect(s.address().port,"127.0.0.1").on("data",d=>{console.log(String(d));process.exit()}))'
    const ended = await box.run([process.execPath, '-e', code], { input: { network: 'none' } })
    expect(ended).toMatchObject({ stdout: 'hi\n', code: 0 })
  })

  it('does not see a hidden file that is created or replaced outside while it runs', async () => {
    const child = box.start(
      [
        'sh',
        '-c',
        'echo ready; read -r _; cat ~/.aws/credentials ~/.netrc ~/.config/gh/hosts ~/.ssh/id; ls -A ~',
      ],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    )
    const ended = collect(child)
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    for (const dir of ['.aws', '.config/gh']) mkdirSync(join(box.home, dir))
    for (const path of ['.aws/credentials', '.config/gh/hosts', 'new-netrc'])
      writeFileSync(join(box.home, path), SECRET, { mode: 0o644 })
    renameSync(join(box.home, 'new-netrc'), join(box.home, '.netrc'))
    renameSync(join(box.home, '.ssh'), join(box.home, '.ssh.old'))
    symlinkSync('.ssh.old', join(box.home, '.ssh'))
    child.stdin?.end('go\n')
    const { stdout, stderr } = await ended
    expect(stdout + stderr).not.toContain(SECRET)
    expect(stdout).toContain('.profile')
    expect(stdout).not.toMatch(/aws|netrc|ssh/)
  })
})
