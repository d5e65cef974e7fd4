/** Step 1 of the one path: check what was asked for, then store it. After that it will be done. */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { RepriseError } from '../contract/errors.ts'
import { RunId, type SessionId } from '../contract/ids.ts'
import type { CreateRun } from '../contract/run.ts'
import type { NewRun, RunRecord } from '../store/records.ts'
import type { EngineParts } from './parts.ts'
import { realWorkDir } from './prepare.ts'
import { firstTierRun } from './tiers/tier-run.ts'

export async function admitRun(
  parts: EngineParts,
  request: CreateRun,
  idempotencyKey: string | null,
): Promise<{ run: RunRecord; created: boolean }> {
  const checked = await checkRequest(parts, request)
  const run =
    request.tier === undefined ? newRun(parts, request, checked) : firstTierRun(parts, request, checked)
  return parts.store.admitRun({ ...run, idempotencyKey })
}

export interface Checked {
  agent: string
  session: SessionId | null
  /** The work directory's real path. */
  place: string
}

const ONLY_WITH_TIER = ['maxTier', 'environment'] as const

/** A run as it was asked for. Whose it is, is said by who admits it. */
export function newRun(
  { clock, settings }: EngineParts,
  request: Omit<CreateRun, 'agent' | 'sessionId'>,
  { agent, session }: Checked,
): NewRun {
  for (const name of ONLY_WITH_TIER) {
    if (request[name] !== undefined) {
      throw new RepriseError('bad-request', `${name}: has a meaning only together with tier`)
    }
  }
  const now = clock.now()
  return {
    id: RunId.create(now),
    idempotencyKey: null,
    agent,
    model: request.model ?? null,
    workDir: request.workDir,
    prompt: request.prompt,
    promptId: randomUUID(),
    request: {
      permissions: request.permissions ?? settings.permissions,
      forceFreshSession: request.forceFreshSession ?? false,
      maxDurationMs: request.maxDurationMs ?? null,
      maxResumes: request.maxResumes ?? null,
      maxTurns: request.maxTurns ?? null,
      maxBudgetUsd: request.maxBudgetUsd ?? null,
      ...(request.dryRun || settings.dryRun ? { dryRun: true } : {}),
    },
    sessionId: session,
    createdAt: now,
  }
}

/** Whether what was asked for can be done at all: the session, the agent and the directory are there. */
export async function checkRequest(
  { store, agents }: EngineParts,
  request: Pick<CreateRun, 'agent' | 'sessionId' | 'workDir'>,
): Promise<Checked> {
  const session = request.sessionId ? await store.getSession(request.sessionId) : null
  if (request.sessionId && !session) {
    throw new RepriseError('not-found', `there is no session ${request.sessionId}`, {
      hint: '`reprise sessions` lists them.',
    })
  }
  const conversation = session && (await store.findConversationOf(session.id))
  if (conversation) {
    throw new RepriseError('conflict', `session ${session.id} belongs to the conversation ${conversation}`, {
      hint: `Say it there: reprise chat ${conversation} (POST /api/conversations/${conversation}/turns).`,
    })
  }
  const agent = request.agent ?? session?.agent ?? agents.names()[0] ?? 'claude'
  await agents.runtime(agent)
  return { agent, session: session?.id ?? null, place: await checkWorkDir(request.workDir) }
}

/** Returns its real path. */
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
