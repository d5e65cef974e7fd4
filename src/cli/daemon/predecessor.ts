/**
 * After a take-over that failed, starts the daemon again that was replaced: with the program, the directory and the
 * environment that it had, and with the database as it left it.
 *
 *   it still runs (it was not told to leave, or another one runs)    ──→ nothing is done
 *   the database is as it was left, or nothing was done in it since  ──→ the old program; if a copy was made, from the copy
 *   the new daemon has worked with the database                      ──→ the new program once more, because going back
 *                                                                        would lose what happened
 */
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { RepriseError, toRepriseError } from '../../contract/errors.ts'
import { copiesIn, isCopyUpToDate } from '../../library/database-copies.ts'
import { type CliContext, notify } from '../base/context.ts'
import { type DaemonLink, findDaemon } from './link.ts'
import { ownProgram, type Program, startProgram } from './process.ts'
import { waitUntilGone } from './stop.ts'
import { GONE_WITHIN_MS, type Replaced } from './take-over.ts'

export interface Predecessor extends Replaced {
  /** null: it cannot be told. */
  program: Program | null
  /** The copies of the database that there were. */
  copies: string[]
}

/** To be called while the daemon runs. */
export function rememberPredecessor(home: string, { pid, version }: DaemonLink): Predecessor {
  return { pid, version, program: readProgram(pid, home), copies: copiesIn(home) }
}

/** Starts the predecessor again if there is no daemon. Returns the error of the take-over, with what was done about it. */
export async function reinstate(
  context: CliContext,
  home: string,
  predecessor: Predecessor,
  failure: unknown,
): Promise<RepriseError> {
  const error = toRepriseError(failure)
  const { version, pid, program } = predecessor
  if (await stillRuns(home, pid)) return error
  if (!context.json) notify(context, `The new daemon failed to start. Starting Reprise ${version} again …`)
  try {
    await waitUntilGone(pid, GONE_WITHIN_MS)
    const { cwd, env } = context
    const copy = copiesIn(home).find((path) => !predecessor.copies.includes(path))
    const isSame = copy === undefined || isCopyUpToDate(copy, { home, cwd, env })
    const next = isSame ? program : ownProgram(context, home)
    if (!next) throw new Error('its program is not known')
    const args = isSame && copy !== undefined ? ['--restore-backup', copy] : []
    const { link } = await startProgram(context, home, { ...next, args: [...next.args, ...args] })
    return explained(
      error,
      `Reprise ${link.version} was started again (pid ${link.pid}); running agents continue.`,
    )
  } catch (cause) {
    return explained(
      error,
      `Reprise ${version} could not be started again: ${toRepriseError(cause).message}. No daemon runs; running agents continue. Start one with: reprise up`,
    )
  }
}

/**
 * A daemon that was told to leave removes the file by which it is found. It is asked twice: it may answer the first
 * request before it looks at the signal.
 */
async function stillRuns(home: string, pid: number): Promise<boolean> {
  for (let time = 0; time < 2; time++) {
    const found = await findDaemon(home).catch(() => null)
    if (!found) return false
    if (found.pid !== pid) return true
  }
  return true
}

const explained = (error: RepriseError, what: string) =>
  new RepriseError(error.code, error.message, {
    hint: error.hint === undefined ? what : `${what}\n${error.hint}`,
    details: error.details,
    cause: error,
  })

/** How the daemon was started, without options that were meant for that one start. */
function readProgram(pid: number, home: string): Program | null {
  try {
    const proc = `/proc/${pid}`
    const words = readFileSync(`${proc}/cmdline`, 'utf8').split('\0').slice(0, -1)
    const command = readlinkSync(`${proc}/exe`)
    const cwd = readlinkSync(`${proc}/cwd`)
    const up = words.indexOf('up')
    if (up < 2) return null
    const scenario = words.indexOf('--scenario', up)
    return {
      command: existsSync(command) ? command : (words[0] as string),
      args: [
        ...words.slice(1, up).filter((word) => word !== '--json'),
        'up',
        '--foreground',
        ...(scenario === -1 ? [] : words.slice(scenario, scenario + 2)),
      ],
      cwd: existsSync(cwd) ? cwd : home,
      env: { ...parseEnviron(readFileSync(`${proc}/environ`, 'utf8')), REPRISE_HOME: home },
    }
  } catch {
    return null
  }
}

/** Without the variables of Node's channel to the process that started it. */
const parseEnviron = (text: string) =>
  Object.fromEntries(
    text
      .split('\0')
      .filter((line) => line.includes('=') && !line.startsWith('NODE_CHANNEL_'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
