/** Checks whether a request can be executed at all. */
import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { AgentRegistry } from '../../agents/registry.ts'
import type { CreateRun } from '../../contract/create-run.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import { requireSession } from '../sessions/require-session.ts'

export interface CheckDeps {
  store: Pick<Store, 'getSession' | 'findSession' | 'findConversationOf'>
  agents: Pick<AgentRegistry, 'defaultName' | 'runtime'>
}

export interface Checked {
  agent: string
  session: SessionId | null
  /** The work directory's real path. */
  place: string
}

/** Checks that the session, the agent and the directory exist. */
export async function checkRequest(
  { store, agents }: CheckDeps,
  request: Pick<CreateRun, 'agent' | 'sessionId' | 'workDir'>,
): Promise<Checked> {
  const session = request.sessionId ? await requireSession(store, request.sessionId) : null
  const conversation = session && (await store.findConversationOf(session.id))
  if (conversation) {
    throw new RepriseError('conflict', `session ${session.id} belongs to the conversation ${conversation}`, {
      hint: `Send the prompt to the conversation: reprise chat ${conversation} (POST /api/conversations/${conversation}/turns).`,
    })
  }
  const agent = request.agent ?? session?.agent ?? agents.defaultName
  await agents.runtime(agent)
  return { agent, session: session?.id ?? null, place: await checkWorkDir(request.workDir) }
}

/** Checks the directory and returns its real path. */
export async function checkWorkDir(path: string): Promise<string> {
  if (!isAbsolute(path)) {
    throw new RepriseError(
      'work-dir-unusable',
      `workDir: expected an absolute path, got ${JSON.stringify(path)}`,
    )
  }
  const real = await realWorkDir(path)
  const usable =
    (await stat(real)).isDirectory() &&
    (await access(real, constants.R_OK | constants.X_OK).then(
      () => true,
      () => false,
    ))
  if (!usable) {
    throw new RepriseError(
      'work-dir-unusable',
      `${path} is not a directory that this user may read and enter`,
      {
        hint: 'Give an existing directory.',
      },
    )
  }
  return real
}

/** The identity of a directory in its file system, which survives a rename; see core/resume/place.ts. */
export async function identifyDir(path: string): Promise<string | null> {
  return stat(path).then(
    ({ dev, ino, birthtimeMs }) => `${dev}:${ino}:${birthtimeMs}`,
    () => null,
  )
}

export async function realWorkDir(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (cause) {
    throw new RepriseError(
      'work-dir-unusable',
      `the work directory ${path} cannot be used: ${(cause as Error).message}`,
      {
        hint: 'Give an existing directory that this user may read and enter.',
        cause,
      },
    )
  }
}
