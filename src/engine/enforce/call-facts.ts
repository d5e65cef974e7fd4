/** What the rules must know about the files of this machine. */
import { existsSync } from 'node:fs'
import type { CallFacts } from '../../core/rules/call.ts'
import { DEFAULT_HIDDEN_PATHS } from '../../core/rules/default-paths.ts'
import { innerLooks } from '../../core/shell/inner-looks.ts'
import { isBelow } from '../../core/shell/paths.ts'
import { compileProtectedPaths, type ProtectedPaths, protectedBy } from '../../core/shell/protected-paths.ts'
import { realPath } from '../../process/real-path.ts'
import { readChecked } from './checked-file.ts'

export interface FactsInput {
  /** The home of the user as whom the agent runs. */
  home: string
  workDir: string
  /** Paths that agents cannot see, besides the credentials and sockets that are always hidden. */
  hiddenPaths: readonly string[]
  protectedPaths: ProtectedPaths
}

const LARGEST_READ_BYTES = 256 * 1024

export function gatherFacts({ home, workDir, hiddenPaths, protectedPaths }: FactsInput): CallFacts {
  const uid = String(process.getuid?.() ?? 0)
  const all = [...DEFAULT_HIDDEN_PATHS, ...hiddenPaths].map((path) => path.replace('{uid}', uid))
  const hidden = compileProtectedPaths({ protectedPaths: all }, home)
  const touchesHidden = (path: string, deep: boolean) =>
    protectedBy({ path, deep }, hidden, existsSync) !== undefined
  // What an agent at a tier may write: its work directory and scratch files.
  const writable = [...new Set([workDir, realPath(workDir), '/tmp', '/var/tmp', '/dev/shm'])]
  return {
    home,
    agentCanWrite: (path) => writable.some((dir) => isBelow(path, dir)),
    isHidden: (path) => touchesHidden(path, false),
    containsHidden: (path) => touchesHidden(path, true),
    isProtected: (path) => protectedBy({ path, deep: true }, protectedPaths, existsSync) !== undefined,
    realPath,
    exists: existsSync,
    readFile: (path) => readText(path, (real) => touchesHidden(real, false)),
    innerLooks,
  }
}

export function readText(path: string, isHidden: (path: string) => boolean): string | null {
  const found = readChecked(path, isHidden, LARGEST_READ_BYTES)
  return found.kind === 'file' ? found.content.toString('utf8') : null
}
