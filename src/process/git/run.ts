/**
 * Runs git: without a shell, without the caller's repository environment, hooks, prompts, colours or housekeeping; with
 * a time limit and an output limit. Paths in git are bytes and need not be UTF-8: see paths.ts.
 */
import { spawn } from 'node:child_process'
import { signal } from '../proc.ts'
import { explainFailure, GitError } from './error.ts'
import { OwnGitDirs } from './own-git-dir.ts'

export interface GitOptions {
  /** Determines where git is found and whose configuration applies: PATH, HOME, XDG_CONFIG_HOME. */
  env: Readonly<Record<string, string | undefined>>
  program?: string
  timeoutMs?: number
  /** Where the git directories of our own are kept. Default: a temporary folder. */
  ownDirs?: string
}

export interface GitCall {
  args: readonly string[]
  /** Begins error messages: "could not …". */
  what: string
  env?: Readonly<Record<string, string>>
  cwd?: string
  input?: Buffer | string
  timeoutMs?: number
  maxBytes?: number
  /** When the output exceeds `maxBytes`, end git and return the output so far instead of failing. */
  cut?: boolean
  /** Exit codes that are results and not failures. 0 always is. */
  answers?: readonly number[]
}

export interface GitOutput {
  code: number
  stdout: Buffer
  /** The output exceeded `maxBytes`. */
  cut: boolean
}

export interface Git {
  ownDirs: OwnGitDirs
  run(call: GitCall): Promise<GitOutput>
}

const TIMEOUT_MS = 60_000
const MAX_BYTES = 512 * 1024 * 1024
const MAX_STDERR = 64 * 1024

/** Settings that must be the same on every machine, whatever the user's configuration says. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.splitIndex=false',
  'index.skipHash=false',
  'core.logAllRefUpdates=false',
  'core.quotePath=false',
  'core.fsync=committed',
  'core.fsyncMethod=batch',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'i18n.commitEncoding=UTF-8',
  'color.ui=false',
  'diff.external=',
  'advice.addEmbeddedRepo=false',
].flatMap((setting) => ['-c', setting])

/** These variables say where the user's configuration is, not which repository is meant. */
const KEPT = ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']

export function openGit(options: GitOptions): Git {
  const program = options.program ?? 'git'
  const env = {
    ...withoutGit(options.env),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '0',
    GIT_NO_LAZY_FETCH: '1',
  }
  return {
    ownDirs: new OwnGitDirs(options.ownDirs ?? null),
    run: (call) =>
      start(program, { timeoutMs: options.timeoutMs ?? TIMEOUT_MS, ...call, env: { ...env, ...call.env } }),
  }
}

function withoutGit(env: GitOptions['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || KEPT.includes(name)),
  )
}

type Started = Omit<GitCall, 'env'> & { env: Record<string, string | undefined>; timeoutMs: number }

function start(program: string, call: Started): Promise<GitOutput> {
  const { what, maxBytes = MAX_BYTES, answers = [] } = call
  return new Promise((resolve, reject) => {
    // This directory always exists. -C or GIT_WORK_TREE says where git works, so that a missing directory is not
    // reported as a missing git.
    const child = spawn(program, [...SETTINGS, ...call.args], {
      cwd: call.cwd ?? '/',
      env: call.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const out: Buffer[] = []
    let outBytes = 0
    let stderr = ''
    let over: 'timeout' | 'flood' | null = null

    const end = (why: 'timeout' | 'flood') => {
      over ??= why
      if (child.pid !== undefined) signal(-child.pid, 'SIGKILL')
    }
    const timer = setTimeout(() => end('timeout'), call.timeoutMs)

    child.stdout.on('data', (chunk: Buffer) => {
      if (over !== null) return
      out.push(chunk.subarray(0, maxBytes - outBytes))
      outBytes += chunk.length
      if (outBytes > maxBytes) end('flood')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < MAX_STDERR) stderr += text
    })
    // Git may end without having read all of its input.
    child.stdin.on('error', () => {})
    child.stdin.end(call.input ?? '')

    child.once('error', (cause: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      const missing = cause.code === 'ENOENT' || cause.code === 'EACCES'
      reject(
        missing
          ? new GitError('git-missing', `${what}: ${program} was not found`, { hint: 'Install git.', cause })
          : new GitError('failed', `${what}: ${cause.message}`, { cause }),
      )
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      const stdout = Buffer.concat(out)
      if (over === 'timeout') {
        reject(
          new GitError('timed-out', `${what}: git took more than ${call.timeoutMs / 1000} s and was ended`),
        )
      } else if (over === 'flood') {
        if (call.cut) resolve({ code: 0, stdout, cut: true })
        else reject(new GitError('failed', `${what}: git printed more than ${maxBytes} bytes and was ended`))
      } else if (code === 0 || (code !== null && answers.includes(code))) {
        resolve({ code, stdout, cut: false })
      } else {
        reject(explainFailure(what, stderr))
      }
    })
  })
}
