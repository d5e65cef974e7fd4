/** Plans: what is refused and how it is said, and unusual paths that must work for real. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { planSandbox } from '../../../src/process/sandbox/plan.ts'
import { prepareSandbox, removePlaceholders } from '../../../src/process/sandbox/prepare.ts'
import type { SandboxInput } from '../../../src/process/sandbox/sandbox.ts'
import { variants } from './available.ts'
import { Box, SECRET } from './box.ts'

const user = { name: 'self', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
const own = variants.filter((variant) => variant.user.uid === user.uid)

describe('refuses', () => {
  let box: Box
  beforeEach(() => {
    box = new Box({ kind: 'none' }, user)
  })
  afterEach(() => box.close())

  const problems = (changes: Partial<SandboxInput>) => {
    const tools = { bwrap: '/usr/bin/bwrap', unshare: null, env: '/usr/bin/env', shell: '/bin/sh' }
    const plan = planSandbox(box.input(changes), { program: 'true', args: [] }, { kind: 'bubblewrap', tools })
    return plan.ok ? [] : plan.problems.map(({ code, message }) => `${code}: ${message}`)
  }

  it.each<[string, (b: Box) => Partial<SandboxInput>, RegExp]>([
    ['a relative path', () => ({ hidden: ['x/y'] }), /^not-absolute: "x\/y" is not an absolute path/],
    [
      'a writable path that does not exist',
      (b) => ({ writable: [join(b.home, 'no')] }),
      /^missing: .*does not exist. Create it/,
    ],
    ['the root as writable', () => ({ writable: ['/'] }), /^reserved-path: "\/" cannot be writable/],
    ['/proc and /dev', () => ({ writable: ['/dev/shm'] }), /^reserved-path/],
    [
      'a path that is writable and hidden',
      (b) => ({ hidden: [b.work] }),
      /^conflict: .*both writable and hidden/,
    ],
    [
      'a path that is writable and read-only',
      (b) => ({ readOnly: [b.work] }),
      /^conflict: .*both writable and read-only/,
    ],
    [
      'a work directory that is missing',
      (b) => ({ workDir: join(b.home, 'no') }),
      /^not-a-folder: .*cannot start there/,
    ],
    ['a work directory that is a file', (b) => ({ workDir: join(b.home, '.profile') }), /^not-a-folder/],
    ['a hidden work directory', (b) => ({ workDir: join(b.home, '.ssh') }), /^work-dir-hidden: .*is hidden/],
    ['a missing folder for /tmp', (b) => ({ tmp: join(b.dir, 'no') }), /^not-a-folder: .*seen as \/tmp/],
    ['a scratch folder that is writable inside', (b) => ({ scratch: b.work }), /^conflict: .*scratch/],
    [
      'a private path in the root that does not exist',
      (b) => ({ privateDirs: [{ path: '/no-such-folder', source: b.cache }] }),
      /^missing/,
    ],
  ])('%s', (_, changes, message) => {
    expect(problems(changes(box))).toEqual([expect.stringMatching(message)])
  })

  it('a writable link into a hidden place', () => {
    mkdirSync(join(box.home, '.ssh', 'sub'))
    symlinkSync(join(box.home, '.ssh', 'sub'), join(box.home, 'innocent'))
    expect(problems({ writable: [box.work, join(box.home, 'innocent')] })).toEqual([
      expect.stringMatching(/^leads-into-hidden: .*innocent" is a link into .*\.ssh, which is hidden/),
    ])
  })

  it('a read-only link that could be replaced', () => {
    symlinkSync(join(box.outside, 'file'), join(box.work, 'CLAUDE.md'))
    expect(problems({ readOnly: [join(box.work, 'CLAUDE.md')] })).toEqual([
      expect.stringMatching(/^replaceable-link: .*could replace it. Put the file or folder itself there/),
    ])
  })

  it('nothing, but warns of hard links', () => {
    linkSync(join(box.work, 'sub', 'locked.txt'), join(box.work, 'other-name'))
    const plan = planSandbox(
      box.input(),
      { program: 'true', args: [] },
      { kind: 'bubblewrap', tools: { bwrap: '', unshare: null, env: '', shell: '' } },
    )
    expect(plan.ok && plan.warnings).toEqual([expect.stringContaining('locked.txt has other names')])
  })

  it('nothing without a sandbox, and says that nothing is enforced', () => {
    const command = { program: 'true', args: ['x'] }
    expect(planSandbox(box.input(), command, { kind: 'none' })).toMatchObject({
      ok: true,
      command,
      warnings: [expect.stringContaining('nothing of this is enforced')],
    })
  })
})

describe.each(own)('works with $means.kind', ({ means }) => {
  let box: Box
  beforeEach(() => {
    box = new Box(means, user)
  })
  afterEach(() => box.close())

  it.each([' spaces  ', 'new\nline', '"quotes" and \'others\'', '-dash', '$HOME `x` \\ *', 'ünï'])(
    'a work directory named %j',
    async (name) => {
      const workDir = join(box.home, name)
      mkdirSync(join(workDir, name), { recursive: true })
      writeFileSync(join(workDir, name, 'f'), 'original')
      const input = {
        workDir,
        writable: [workDir],
        readOnly: [join(workDir, name, 'f')],
        hidden: [join(workDir, `${name}2`)],
      }
      const ended = await box.run(['sh', '-c', 'echo x >made; echo x >"./$0/f"; pwd', name], { input })
      expect(Buffer.from(ended.stdout, 'latin1').toString()).toBe(`${workDir}\n`)
      expect(readFileSync(join(workDir, 'made'), 'utf8')).toBe('x\n')
      expect(readFileSync(join(workDir, name, 'f'), 'utf8')).toBe('original')
    },
  )

  it('a work directory under /tmp, writable or not', async () => {
    const workDir = realpathSync(mkdtempSync('/tmp/reprise-work-'))
    try {
      writeFileSync(join(workDir, 'f'), 'seen')
      const read = await box.sh('cat f; echo x >f; ls /tmp | grep -c reprise-work', {
        input: { workDir, writable: [] },
      })
      expect(read.stdout).toBe('seen1\n')
      expect(readFileSync(join(workDir, 'f'), 'utf8')).toBe('seen')
      await box.sh('echo written >f', { input: { workDir, writable: [workDir] } })
      expect(readFileSync(join(workDir, 'f'), 'utf8')).toBe('written\n')
    } finally {
      rmSync(workDir, { recursive: true })
    }
  })

  it('a work directory that is the home', async () => {
    const input = { workDir: box.home, writable: [box.home], privateDirs: [] }
    const script =
      'echo x >made; cat .ssh/id .netrc work/token; mkdir .aws/x; echo x >.aws; mv .ssh .old; mv .netrc n; mv work w; echo x >work/locked/file; ls -A .ssh'
    const ended = await box.sh(script, { input })
    expect(ended.stdout + ended.stderr).not.toContain(SECRET)
    expect(existsSync(join(box.home, 'made'))).toBe(true)
    // Placeholders are removed again.
    expect(existsSync(join(box.home, '.aws'))).toBe(false)
    for (const path of ['.ssh/id', '.netrc', 'work/token'])
      expect(readFileSync(join(box.home, path), 'utf8')).toContain(SECRET)
    expect(readFileSync(join(box.home, 'work/locked/file'), 'utf8')).toBe('original\n')
  })

  it('a work directory that is a symbolic link', async () => {
    symlinkSync(box.work, join(box.home, 'link'))
    const link = join(box.home, 'link')
    const ended = await box.sh('pwd -P; echo x >made; echo x >sub/locked.txt', {
      input: { workDir: link, writable: [link] },
    })
    expect(ended.stdout).toBe(`${box.work}\n`)
    expect(existsSync(join(box.work, 'made'))).toBe(true)
    expect(readFileSync(join(box.work, 'sub/locked.txt'), 'utf8')).toBe('original\n')
  })

  it('a writable and a read-only path inside a hidden one', async () => {
    for (const dir of ['own', 'shown', 'other']) mkdirSync(join(box.home, '.ssh', dir))
    writeFileSync(join(box.home, '.ssh/shown/f'), 'shown\n')
    const input = {
      writable: [box.work, join(box.home, '.ssh/own')],
      readOnly: [join(box.home, '.ssh/shown')],
    }
    const ended = await box.sh(
      'ls -A ~/.ssh; cat ~/.ssh/shown/f; echo x >~/.ssh/own/f; echo x >~/.ssh/shown/f; echo x >~/.ssh/new',
      { input },
    )
    expect(ended.stdout).toBe('own\nshown\nshown\n')
    expect(readFileSync(join(box.home, '.ssh/own/f'), 'utf8')).toBe('x\n')
    expect(readFileSync(join(box.home, '.ssh/shown/f'), 'utf8')).toBe('shown\n')
    expect(existsSync(join(box.home, '.ssh/new'))).toBe(false)
  })

  it('placeholders that somebody has filled in the meantime, which stay', () => {
    const plan = box.plan({ program: 'true', args: [] })
    expect(plan.placeholders.toSorted()).toEqual([join(box.work, '.env'), join(box.work, '.later')])
    prepareSandbox(plan)
    writeFileSync(join(box.work, '.env'), 'mine')
    removePlaceholders(plan)
    removePlaceholders(plan)
    expect(existsSync(join(box.work, '.later'))).toBe(false)
    expect(readFileSync(join(box.work, '.env'), 'utf8')).toBe('mine')
  })
})
