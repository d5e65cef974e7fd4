/** Guards: policed programs ask before they start, and nothing else about them changes. */
import { isUtf8 } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { GuardDesk } from '../../src/process/guard-desk.ts'
import { installGuards, withGuards } from '../../src/process/guards.ts'
import { announceSeed } from '../core/random.ts'
import { exists, temporarySpool } from './attempts.ts'
import { allow, deny, Guarded } from './guarded.ts'

const SHOWS_ARGUMENTS = `printf '%s\\0' "$#" "$@"`

describe('a policed program', () => {
  it('runs if it is allowed, and the desk knows what was asked', async () => {
    const world = new Guarded({ docker: 'echo ran "$@"' })
    const asked = world.answer(allow)
    const { child, ended } = world.start('docker', ['ps', '-a'])
    expect(await ended).toMatchObject({ code: 0, stdout: Buffer.from('ran ps -a\n'), stderr: '' })
    expect(asked).toEqual([
      {
        id: expect.any(String),
        program: 'docker',
        realPath: join(world.tools, 'docker'),
        args: ['ps', '-a'],
        garbled: false,
        cwd: world.workDir,
        pid: child.pid,
      },
    ])
    expect(world.litter()).toEqual([])
  })

  it('does not run if it is denied, and says why', async () => {
    const world = new Guarded({ docker: 'touch ran' })
    world.answer(deny('not at this tier\n  try: docker ps \\ or %s $HOME `ls`\t\u001b[31m'))
    expect(await world.run('docker', ['kill', 'x'])).toMatchObject({
      code: 126,
      stdout: Buffer.alloc(0),
      stderr: 'docker: refused by Reprise: not at this tier\n  try: docker ps \\ or %s $HOME `ls`  [31m\n',
    })
    expect(exists(join(world.workDir, 'ran'))).toBe(false)
    expect(world.litter()).toEqual([])
  })

  it('is given as much of a long reason as fits, without partial characters', async () => {
    const world = new Guarded({ docker: '' })
    world.answer(deny('\\é\n'.repeat(4000)))
    const { code, stderr } = await world.run('docker')
    expect(code).toBe(126)
    expect(stderr).toMatch(/^docker: refused by Reprise: (\\é\n)+\\?é?…\n$/)
    expect(stderr.length).toBeGreaterThan(1500)
  })

  it('is denied if the decision fails', async () => {
    const world = new Guarded({ docker: 'touch ran' })
    const desk = world.openDesk(async () => {
      throw new Error('out of order')
    })
    const { code, stderr } = await world.run('docker')
    expect(code).toBe(126)
    expect(stderr).toContain('out of order')
    desk.close()
    world.openDesk(() => {
      throw new Error('at once')
    })
    expect((await world.run('docker')).code).toBe(126)
    expect(exists(join(world.workDir, 'ran'))).toBe(false)
  })

  it('that does not exist is not found, and the desk is not asked', async () => {
    const world = new Guarded({ docker: '' })
    rmSync(join(world.tools, 'docker'))
    world.env = withGuards({ PATH: `${world.tools}::/nowhere` }, world.bin)
    mkdirSync(join(world.workDir, 'docker'))
    const asked = world.answer(allow)
    expect(await world.run('docker')).toMatchObject({ code: 127, stderr: 'docker: command not found\n' })
    expect(asked).toEqual([])
  })

  it('is found in the current directory if PATH says so', async () => {
    const world = new Guarded({ docker: '' })
    renameSync(join(world.tools, 'docker'), join(world.workDir, 'docker'))
    world.env = withGuards({ PATH: ':/nowhere' }, world.bin)
    const asked = world.answer(allow)
    expect((await world.run('docker')).code).toBe(0)
    expect(asked[0]?.realPath).toBe(join(world.workDir, 'docker'))
  })

  it('is asked for where it is really started, links resolved', async () => {
    const world = new Guarded({ docker: '' })
    mkdirSync(join(world.workDir, 'new\nline '))
    symlinkSync('new\nline ', join(world.workDir, 'link'))
    const asked = world.answer(allow)
    expect((await world.sh('cd link && docker')).code).toBe(0)
    expect(asked[0]?.cwd).toBe(join(world.workDir, 'new\nline '))
    const gone = await world.sh('mkdir gone && cd gone && /bin/rmdir ../gone && docker')
    expect(gone).toMatchObject({ code: 126, stderr: expect.stringContaining('cannot be read') })
    expect(asked).toHaveLength(1)
  })
})

describe('what the program gets', () => {
  it('are its arguments, byte for byte; the desk gets the same', async () => {
    const world = new Guarded({ docker: SHOWS_ARGUMENTS })
    const asked = world.answer(allow)
    const byte = fc.oneof(
      fc.constantFrom(...Buffer.from('\n\\ \'"$`*%\t-')),
      // Bytes that dash uses internally as markers.
      fc.integer({ min: 0x80, max: 0x8f }),
      fc.integer({ min: 1, max: 255 }),
    )
    const words = fc.array(
      fc.oneof(
        fc.array(byte, { maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
        fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text.replaceAll('\0', ''))),
      ),
      { minLength: 1, maxLength: 6 },
    )
    await fc.assert(
      fc.asyncProperty(words, async (args) => {
        const listed = Buffer.concat(args.flatMap((arg) => [arg, Buffer.of(0)]))
        // Node cannot start a program with arguments that are not valid text; xargs can.
        const { stdout } = await world.run('xargs', ['-0', 'docker'], listed)
        expect(stdout).toEqual(Buffer.concat([Buffer.from(`${args.length}\0`), listed]))
        expect(asked.pop()).toMatchObject({
          args: args.map(String),
          garbled: !args.every((arg) => isUtf8(arg)),
        })
      }),
      { seed: announceSeed(), numRuns: 60 },
    )
  })

  it('may be none, or very many', async () => {
    const world = new Guarded({ docker: SHOWS_ARGUMENTS })
    const asked = world.answer(allow)
    expect((await world.run('docker')).stdout.toString()).toBe('0\0')
    const args = Array.from({ length: 5000 }, (_, i) => `${i}-${'x'.repeat(100)}`)
    expect((await world.run('docker', args)).stdout.toString()).toBe(`5000\0${args.join('\0')}\0`)
    expect(asked.map(({ args }) => args)).toEqual([[], args])
  })

  it('is its stdin, untouched', async () => {
    const world = new Guarded({ docker: 'exec cat' })
    world.answer(allow)
    const input = Buffer.alloc(1 << 20, 'allow\ndeny\n\0')
    expect((await world.run('docker', [], input)).stdout.equals(input)).toBe(true)
    expect((await world.sh('docker; echo then; cat', 'once')).stdout.toString()).toBe('oncethen\n')
    expect(
      (await world.sh('printf "a\\nb\\n" | while read -r l; do docker; echo "$l"; done')).stdout.toString(),
    ).toBe('b\na\n')
  })

  it('are its descriptors, those that are closed too', async () => {
    const world = new Guarded({ docker: 'cat <&3; cat <&9', ls: '' })
    world.answer(allow)
    const passed = await world.sh('echo three >a; echo nine >b; exec docker 3<a 9<b')
    expect(passed).toMatchObject({ code: 0, stdout: Buffer.from('three\nnine\n'), stderr: '' })
    rmSync(join(world.tools, 'ls'))
    const [guarded, direct] = await Promise.all(
      ['ls', '/bin/ls'].map((ls) => world.run(ls, ['/proc/self/fd'])),
    )
    expect(guarded?.stdout.toString()).toBe(direct?.stdout.toString())
    world.addTool('docker', 'for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] || printf "$fd closed " >>seen; done')
    for (const closed of ['<&-', '>&-', '2>&-', '<&- >&- 2>&-', '<&- 2>&-']) {
      expect((await world.sh(`docker ${closed}`)).code, closed).toBe(0)
    }
    expect((await world.sh('cat seen')).stdout.toString()).toBe(
      '0 closed 1 closed 2 closed 0 closed 1 closed 2 closed 0 closed 2 closed ',
    )
  })

  it('is its environment, whatever names are in it', async () => {
    const world = new Guarded({ docker: 'exec env -0' })
    world.answer(allow)
    Object.assign(world.env, {
      PWD: world.workDir,
      dir: 'd',
      real: 'r',
      id: '',
      IFS: ':',
      ODD: 'a\nb=c',
      TERM: 't',
    })
    const lines = async (program: string) => (await world.run(program)).stdout.toString().split('\0').sort()
    expect(await lines('docker')).toEqual(await lines(join(world.tools, 'docker')))
  })

  it('is the signal: it is the same process that was started', async () => {
    const world = new Guarded({ docker: 'trap "exit 42" TERM; echo $$; while :; do sleep 0.01; done' })
    world.answer(allow)
    const { child, ended } = world.start('docker')
    const [line] = (await once(child.stdout!, 'data')) as [Buffer]
    expect(Number(line)).toBe(child.pid)
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 42, signal: null })
  })

  it.each([0, 1, 126, 255])('its exit code %i is passed on', async (code) => {
    const world = new Guarded({ docker: 'exit "$1"' })
    world.answer(allow)
    expect((await world.run('docker', [String(code)])).code).toBe(code)
  })

  it('its death by a signal is passed on', async () => {
    const world = new Guarded({ docker: 'kill -KILL $$' })
    world.answer(allow)
    expect(await world.run('docker')).toMatchObject({ code: null, signal: 'SIGKILL' })
  })
})

describe('whichever program starts it', () => {
  const has = (program: string) => spawnSync(program, ['--version']).error === undefined
  const programs: [string, string[]][] = [
    [process.execPath, ['-e', `process.exit(require('child_process').spawnSync('docker', ['rm']).status)`]],
    [
      process.execPath,
      ['-e', `try { require('child_process').execSync('docker rm') } catch (e) { process.exit(e.status) }`],
    ],
    ['python3', ['-c', 'import subprocess, sys; sys.exit(subprocess.run(["docker", "rm"]).returncode)']],
    ['python3', ['-c', 'import os; os.execvp("docker", ["another name", "rm"])']],
    ['perl', ['-e', 'exit(system("docker", "rm") >> 8)']],
    ['awk', ['BEGIN { exit system("docker rm") == 126 ? 126 : 1 }']],
    ['sh', ['-c', 'echo ZG9ja2VyIHJt | base64 -d | sh']],
    ['sh', ['-c', 'echo rm | xargs docker']],
    ['bash', ['-c', 'exec -a innocent docker rm']],
    ['env', ['docker', 'rm']],
    ['find', ['.', '-maxdepth', '0', '-exec', 'docker', 'rm', ';']],
  ]
  it.each(programs.filter(([program]) => has(program)))('%s %j is refused', async (program, args) => {
    const world = new Guarded({ docker: 'touch ran' })
    const asked = world.answer(deny('no'))
    await world.run(program, args)
    expect(asked).toMatchObject([{ program: 'docker', args: ['rm'] }])
    expect(exists(join(world.workDir, 'ran'))).toBe(false)
  })

  it('a policed program that starts another asks for both', async () => {
    const world = new Guarded({ git: 'rm "$@"; echo $?', rm: 'touch ran' })
    const seen: string[] = []
    world.openDesk(async ({ program }) => {
      seen.push(program)
      return program === 'git' ? allow : deny('no')
    })
    expect((await world.run('git', ['x'])).stdout.toString()).toBe('126\n')
    expect(seen).toEqual(['git', 'rm'])
    expect(exists(join(world.workDir, 'ran'))).toBe(false)
  })

  it('every tool of the guard itself may be policed', async () => {
    const tools = ['mkfifo', 'printf', 'pwd', 'sh', 'test']
    const world = new Guarded(Object.fromEntries(tools.map((name) => [name, 'exit 3'])))
    const asked = world.answer(allow)
    expect((await world.run('mkfifo')).code).toBe(3)
    expect(asked).toHaveLength(1)
  })

  it('other shells than dash can run the guard', async ({ skip }) => {
    if (!has('bash')) skip()
    const world = new Guarded({ docker: SHOWS_ARGUMENTS })
    const asked = world.answer(allow)
    const args = ['a\nb', '', '\\', 'é']
    const { stdout } = await world.run('bash', ['--posix', join(world.bin, 'docker'), ...args])
    expect(stdout.toString()).toBe(`4\0${args.join('\0')}\0`)
    expect(asked).toMatchObject([{ args, cwd: world.workDir }])
  })
})

describe('guards of several daemons', () => {
  it('are all asked, in the order of PATH', async () => {
    const world = new Guarded({ docker: 'echo ran' })
    const outer = join(world.root, 'outer')
    const outerBin = installGuards({ dir: outer, programs: ['docker'] })
    world.env = withGuards(withGuards({ PATH: world.tools }, outerBin), world.bin)
    const inner = world.answer(allow)
    const outside = [deny('outside'), allow]
    const desk = new GuardDesk({ dir: outer, decide: async () => outside.shift()! })
    onTestFinished(() => desk.close())
    expect(await world.run('docker')).toMatchObject({ code: 126, stderr: expect.stringContaining('outside') })
    expect([inner.length, outside.length]).toEqual([1, 1])
    // Each guard asks once, however often it is on PATH.
    world.env.PATH = `${world.bin}:${outerBin}:${world.bin}:${outerBin}:${world.tools}`
    expect((await world.run('docker')).stdout.toString()).toBe('ran\n')
    expect([inner.length, outside.length]).toEqual([2, 0])
  })

  it('do not take each other for the program, under whatever name of their directory', async () => {
    const world = new Guarded({ docker: 'echo ran' })
    const alias = join(world.root, 'alias')
    symlinkSync(world.bin, alias)
    const asked = world.answer(allow)
    for (const path of [
      `${world.bin}/`,
      alias,
      `${alias}:${world.bin}/:${world.bin}`,
      `${world.root}/./guards/bin`,
    ]) {
      world.env.PATH = `${path}:${world.tools}`
      expect((await world.run('docker')).stdout.toString(), path).toBe('ran\n')
    }
    expect(asked).toHaveLength(4)
    world.env.PATH = world.tools
    expect((await world.run(join(world.bin, 'docker'))).stdout.toString()).toBe('ran\n')
    expect(asked).toHaveLength(5)
  })
})

describe('installing', () => {
  it('can be repeated: there are guards only for the requested programs, for their owner only', () => {
    const dir = join(temporarySpool(), 'guards')
    const bin = installGuards({ dir, programs: ['docker', 'git'] })
    const first = statSync(join(bin, 'git'))
    expect(installGuards({ dir, programs: ['git', 'rm'] })).toBe(bin)
    expect(readdirSync(bin).sort()).toEqual(['git', 'rm'])
    expect(statSync(join(bin, 'git')).ino).toBe(first.ino)
    expect(first.mode & 0o777).toBe(0o700)
    for (const folder of [bin, join(dir, 'asked')]) expect(statSync(folder).mode & 0o077).toBe(0)
  })

  it('replaces guards of another version, and leftovers of a killed installation', () => {
    const dir = join(temporarySpool(), 'guards')
    const bin = installGuards({ dir, programs: ['git'] })
    writeFileSync(join(dir, 'guard'), 'old')
    writeFileSync(join(bin, 'git.new'), 'half')
    installGuards({ dir, programs: ['git', 'rm'] })
    const { ino } = statSync(join(dir, 'guard'))
    expect(readdirSync(bin).map((name) => [name, statSync(join(bin, name)).ino])).toEqual([
      ['git', ino],
      ['rm', ino],
    ])
    expect(statSync(join(bin, 'git')).mode & 0o777).toBe(0o700)
  })

  it('is refused if guards could not work', () => {
    const spool = temporarySpool()
    expect(() => installGuards({ dir: join(spool, 'a:b'), programs: ['git'] })).toThrow(/":"/)
    for (const program of ['../git', '', 'a b', '.', '-x', 'a/b']) {
      expect(() => installGuards({ dir: spool, programs: [program] }), program).toThrow(
        /not a valid program name/,
      )
    }
  })

  it('puts the guards first on PATH, once', () => {
    const env = withGuards({ PATH: '/usr/bin:/g/bin:/bin', HOME: '/h' }, '/g/bin')
    expect(env).toEqual({ PATH: '/g/bin:/usr/bin:/bin', HOME: '/h' })
    expect(withGuards(env, '/g/bin')).toEqual(env)
    expect(withGuards({}, '/g/bin').PATH).toBe('/g/bin:/usr/local/bin:/usr/bin:/bin')
  })
})
