/** Session files that were found, in order and in pages, and a quick look at several of them at a time. */
import { realpath } from 'node:fs/promises'
import type { SessionFile, SessionPeek } from '../../agents/existing-sessions.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Page } from '../../contract/http.ts'

export interface FoundFile {
  file: SessionFile
  /** null: the file cannot be read. */
  peek: SessionPeek | null
}

/** A directory that no longer exists keeps its name. */
export const realDir = (workDir: string) => realpath(workDir).catch(() => workDir)

export const newestFirst = (files: readonly SessionFile[]): SessionFile[] =>
  files.toSorted((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime() || (a.path < b.path ? -1 : 1))

/** The cursor is the time of the last file and its id, so that files that are written meanwhile do not shift a page. */
export function pageOf(files: readonly SessionFile[], limit: number, cursor?: string): Page<SessionFile> {
  const rest = cursor === undefined ? files : files.slice(startAfter(files, cursor))
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rest.length > limit && last ? cursorOf(last) : null }
}

const cursorOf = ({ modifiedAt, agentSessionId }: SessionFile) => `${modifiedAt.getTime()}:${agentSessionId}`

function startAfter(files: readonly SessionFile[], cursor: string): number {
  const [time = '', id] = cursor.split(':')
  if (!/^\d+$/.test(time) || id === undefined)
    throw new RepriseError('bad-request', 'cursor: expected the `nextCursor` of a previous page')
  const same = files.findIndex((file) => cursorOf(file) === cursor)
  if (same !== -1) return same + 1
  const older = files.findIndex((file) => file.modifiedAt.getTime() < Number(time))
  return older === -1 ? files.length : older
}

const AT_ONCE = 16

/** Looks at the files in order, some at a time. */
export async function listFound(
  files: readonly SessionFile[],
  peek: (file: SessionFile) => Promise<SessionPeek>,
): Promise<FoundFile[]> {
  const found: FoundFile[] = []
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const some = files.slice(from, from + AT_ONCE)
    found.push(
      ...(await Promise.all(some.map(async (file) => ({ file, peek: await peek(file).catch(() => null) })))),
    )
  }
  return found
}
