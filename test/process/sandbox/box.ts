/**
 * A home for the tests of the sandbox, and programs started inside. It is not under /tmp, because /tmp is private inside, and an
 * attack on a folder that is not visible would prove nothing. What must not change is noted by `snapshot` and `findHarm`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { MARKER } from '../../../src/process/proc.ts'
import { openSandbox, type SandboxMeans } from '../../../src/process/sandbox/plan.ts'
import { prepareSandbox, removePlaceholders } from '../../../src/process/sandbox/prepare.ts'
import type { SandboxCommand, SandboxInput, SandboxPlan } from '../../../src/process/sandbox/sandbox.ts'

export const SECRET = 'SECRET-that-nobody-inside-may-read'
export const ESCAPED = 'ESCAPED'

export interface User {
  name: string
  uid: number
  gid: number
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface StartOptions {
  input?: Partial<SandboxInput>
  env?: Record<string, string>
  stdio?: (number | 'pipe' | 'ignore')[]
  detached?: boolean
}

/** The repository, if it is below /tmp: the sandbox has a /tmp of its own, and Node and the CLI are started from there. */
const ROOT = resolve(import.meta.dirname, '../../..')
const UNDER_TMP = ROOT.startsWith('/tmp/') ? [ROOT] : []

export class Box {
  readonly dir = realpathSync(mkdtempSync('/var/tmp/reprise-sandbox-'))
  readonly home = join(this.dir, 'home')
  readonly work = join(this.home, 'work')
  readonly outside = join(this.home, 'outside')
  readonly tmp = join(this.dir, 'session-tmp')
  readonly cache = join(this.dir, 'session-cache')
  /** Marks the processes of this box for the search from outside. */
  readonly id = `sandbox-test-${this.dir.slice(-6)}`
  readonly means: SandboxMeans
  readonly user: User
  #starts = 0

  constructor(means: SandboxMeans, user: User) {
    this.means = means
    this.user = user
    chmodSync(this.dir, 0o755)
    // A repository in a folder that others may not enter would hide the script from another user.
    if (means.kind === 'unshare') {
      const { tools } = means
      const copied = (path: string) => {
        const copy = join(this.dir, basename(path))
        copyFileSync(path, copy)
        return copy
      }
      const perl = tools.perl && { ...tools.perl, script: copied(tools.perl.script) }
      this.means = { kind: 'unshare', tools: { ...tools, script: copied(tools.script), perl } }
    }
    for (const dir of ['work', 'work/sub', 'work/locked', 'outside', '.ssh', '.config', 'sockets'])
      mkdirSync(join(this.home, dir), { recursive: true })
    for (const dir of [this.tmp, this.cache]) mkdirSync(dir)
    const write = (path: string, text: string) => writeFileSync(join(this.home, path), text)
    write('work/own.txt', 'mine\n')
    for (const path of ['work/sub/locked.txt', 'work/locked/file', 'outside/file', '.profile'])
      write(path, 'original\n')
    for (const path of ['.ssh/id', '.netrc', 'work/token']) write(path, `${SECRET}\n`)
    this.#own(this.dir)
  }

  #own(path: string): void {
    chownSync(path, this.user.uid, this.user.gid)
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) this.#own(join(path, name))
  }

  input(changes: Partial<SandboxInput> = {}): SandboxInput {
    const scratch = join(this.dir, `scratch-${this.#starts++}`)
    mkdirSync(scratch)
    const at = (path: string) => join(this.home, path)
    const readOnly = ['work/sub/locked.txt', 'work/locked', 'work/.later/config'].map(at)
    return {
      workDir: this.work,
      writable: [this.work],
      hidden: ['.ssh', '.netrc', '.aws/', '.config/gh/', 'sockets', 'work/token', 'work/.env'].map(at),
      tmp: this.tmp,
      privateDirs: [{ path: at('.cache'), source: this.cache }],
      network: 'open',
      scratch,
      uid: this.user.uid,
      gid: this.user.gid,
      ...changes,
      readOnly: [...(changes.readOnly ?? readOnly), ...UNDER_TMP],
    }
  }

  plan(command: SandboxCommand, changes: Partial<SandboxInput> = {}): SandboxPlan {
    const plan = openSandbox(this.means).plan(this.input(changes), command)
    if (!plan.ok) throw new Error(JSON.stringify(plan.problems))
    prepareSandbox(plan)
    for (const { kind, path } of plan.files)
      if (kind !== 'link') chownSync(path, this.user.uid, this.user.gid)
    return plan
  }

  env(extra: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: this.home,
      WORK: this.work,
      OUTSIDE: this.outside,
      NODE: process.execPath,
      [MARKER]: this.id,
      ...extra,
    }
  }

  start(argv: readonly [string, ...string[]], options: StartOptions = {}): ChildProcess {
    const [program, ...args] = argv
    const plan = this.plan({ program, args }, options.input)
    const { command } = plan
    const child = spawn(command.program, [...command.args], {
      cwd: '/',
      env: this.env(options.env),
      stdio: options.stdio ?? ['ignore', 'pipe', 'pipe'],
      detached: options.detached ?? false,
      ...(this.user.uid === process.getuid?.() ? {} : { uid: this.user.uid, gid: this.user.gid }),
    })
    child.once('close', () => removePlaceholders(plan))
    return child
  }

  run(argv: readonly [string, ...string[]], options: StartOptions = {}): Promise<Ended> {
    return collect(this.start(argv, options))
  }

  sh(script: string, options: StartOptions = {}): Promise<Ended> {
    return this.run(['sh', '-c', script], options)
  }

  /** Everything in the home that the program inside must not change, with its content. */
  snapshot(): Record<string, string> {
    const found: Record<string, string> = {}
    const look = (path: string) => {
      const name = path.slice(this.home.length)
      const stat = lstatSync(path)
      if (stat.isDirectory()) {
        found[name] = `dir ${stat.mode.toString(8)}`
        for (const entry of readdirSync(path)) look(join(path, entry))
      } else if (stat.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`
      else if (stat.isFile()) found[name] = `${stat.mode.toString(8)} ${readFileSync(path, 'utf8')}`
      else found[name] = `special ${stat.mode.toString(8)}`
    }
    look(this.home)
    const isFree = (name: string) =>
      name.startsWith('/work/') &&
      !['/work/sub/', '/work/locked', '/work/token'].some((p) => name.startsWith(p))
    return Object.fromEntries(
      Object.entries(found).filter(([name]) => !isFree(name) || /^\/work\/(\.later|\.env)/.test(name)),
    )
  }

  close(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

export function collect(child: ChildProcess): Promise<Ended> {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('latin1').on('data', (chunk: string) => {
      texts[name] += chunk
    })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...texts }))
  })
}
