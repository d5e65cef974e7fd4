/** Checks of what Reprise needs from the machine. */
import { execFile } from 'node:child_process'
import { access, constants, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { CliContext } from '../base/context.ts'
import { type Check, fail, ok, warn } from './check.ts'

const run = promisify(execFile)
const NODE_NEEDED = 24

export async function checkMachine({ env }: CliContext): Promise<Check[]> {
  const path = env.PATH ?? ''
  return Promise.all([checkNode(), checkGit(path), checkProc(), checkShell(), checkMkfifo(path)])
}

async function checkNode(): Promise<Check> {
  const { node } = process.versions
  if (Number.parseInt(node, 10) >= NODE_NEEDED) return ok('node', `Node ${node} (${process.execPath})`)
  return fail('node', `Node ${node} is too old`, `Install Node ${NODE_NEEDED} or newer, or run \`npm ci\`.`)
}

async function checkGit(path: string): Promise<Check> {
  try {
    const { stdout } = await run('git', ['--version'], { timeout: 5000, env: { PATH: path } })
    return ok('git', stdout.trim())
  } catch {
    return warn(
      'git',
      'git was not found',
      'Install git: agents use it in most work directories, and checkpoints need it.',
    )
  }
}

async function checkProc(): Promise<Check> {
  try {
    await readFile('/proc/self/stat')
    await readFile('/proc/sys/kernel/random/boot_id')
    return ok('proc', '/proc is readable')
  } catch {
    return fail(
      'proc',
      '/proc is not available',
      'Reprise uses /proc to find its agents after a restart. Use Linux, or mount /proc in the container.',
    )
  }
}

async function checkShell(): Promise<Check> {
  if (await isExecutable('/bin/sh')) return ok('sh', '/bin/sh exists')
  return fail('sh', '/bin/sh is missing', 'Install a POSIX shell as /bin/sh: it supervises each agent.')
}

async function checkMkfifo(path: string): Promise<Check> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    if (await isExecutable(join(folder, 'mkfifo'))) return ok('mkfifo', `${join(folder, 'mkfifo')} exists`)
  }
  return fail(
    'mkfifo',
    'mkfifo was not found on PATH',
    'Install coreutils: agents read their input from a FIFO.',
  )
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
