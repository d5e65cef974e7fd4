/**
 * Work counts as admitted once a daemon has confirmed it; until then it is requested again with the same idempotency
 * key, whatever happened to the daemon meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { CreateJob } from '../../src/contract/create-job.ts'
import type { CreateRun } from '../../src/contract/create-run.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import { until, type World } from '../../test/support/world.ts'
import type { Admitted, AdmittedJob, Round } from './admitted.ts'
import { quietly, Refused } from './quietly.ts'
import type { Random } from './random.ts'
import { promptOf } from './scenario.ts'
import { type JobWork, jobDir, type RunWork } from './work.ts'

const WITHIN_MS = 60_000

export async function admitRun(round: Round, work: RunWork, random: Random): Promise<void> {
  const { world, admitted } = round
  const { tag, permissions } = work
  if (work.as === 'turn') {
    const conversation = await conversationOf(round, random)
    const id = await admit(world, `/api/conversations/${conversation}/turns`, { text: promptOf(tag) }, tag)
    admitted.push({ tag, id, cancelled: false })
    return
  }
  if (work.as === 'follow-up' && (await admitFollowUp(round, work, random))) return
  const session = work.inSession ? await sessionOf(world, random.pick(admitted)) : null
  const request: CreateRun = {
    prompt: promptOf(tag),
    workDir: world.workDir,
    permissions,
    ...(session ? { sessionId: session } : {}),
  }
  const entry: Admitted = { tag, id: await admit(world, '/api/runs', request, tag), cancelled: false }
  admitted.push(entry)
  if (work.cancelAfterMs === null) return
  await delay(work.cancelAfterMs)
  entry.cancelled = true
  await quietly(() => world.api('POST', `/api/runs/${entry.id}/cancel`))
}

export async function admitJob({ world, jobs, seen }: Round, work: JobWork): Promise<AdmittedJob> {
  const request: CreateJob = {
    prompt: promptOf(work.tag),
    workDir: jobDir(world, work.dir),
    permissions: work.permissions,
    priority: work.priority,
    maxResumes: work.maxResumes,
    ...(work.timeoutMs === null ? {} : { timeoutMs: work.timeoutMs }),
    ...(work.maxBudgetTokens === null ? {} : { maxBudgetTokens: work.maxBudgetTokens }),
  }
  const id = await admit(world, '/api/jobs', request, work.tag)
  const entry: AdmittedJob = { tag: work.tag, id, work, cancelled: false }
  jobs.push(entry)
  if (work.askTwice) {
    const again = await admit(world, '/api/jobs', request, work.tag)
    if (again !== id)
      seen.push(`${work.tag}: requested twice with one key, it got the ids ${id} and ${again}`)
  }
  return entry
}

const MAX_CONVERSATIONS = 4

async function conversationOf({ world, conversations }: Round, random: Random): Promise<string> {
  const known = conversations.length < MAX_CONVERSATIONS ? undefined : random.pick(conversations)
  if (known !== undefined) return known
  const id = await admit(
    world,
    '/api/conversations',
    { workDir: world.workDir },
    `conversation-${conversations.length}`,
  )
  conversations.push(id)
  return id
}

/** In the session of a run that has settled. False if there is none that can be used. */
async function admitFollowUp(round: Round, { tag }: RunWork, random: Random): Promise<boolean> {
  const { world, followUps } = round
  const run = random.pick(round.admitted.filter(({ cancelled }) => !cancelled))
  const state = run && (await quietly(async () => (await world.getRun(run.id)).state))
  if (!run || state !== 'settled') return false
  const request = { prompt: promptOf(tag), runId: run.id, inMs: 1000 }
  try {
    followUps.push({ tag, id: await admit(world, '/api/followups', request, tag) })
    return true
  } catch (error) {
    // The session cannot be used any more.
    if (error instanceof Refused) return false
    throw error
  }
}

/** The runs that follow-ups became are admitted with them. False while one of them is planned. */
export async function readFollowUps({ world, admitted, followUps, seen }: Round): Promise<boolean> {
  for (const { tag, id } of followUps) {
    if (admitted.some((one) => one.tag === tag)) continue
    const found = await quietly(() => world.api<FollowUp>('GET', `/api/followups/${id}`))
    if (!found || found.state === 'planned') return false
    if (found.firedRunId) admitted.push({ tag, id: found.firedRunId, cancelled: false })
    else seen.push(`${tag} (${id}): the follow-up is ${found.state}: ${found.message}`)
  }
  return true
}

async function admit(world: World, path: string, request: object, key: string): Promise<string> {
  return until(
    () =>
      quietly(async () => {
        const response = await world.request('POST', path, request, { 'idempotency-key': key })
        if (response.status >= 500) return null
        if (!response.ok) throw new Refused(`POST ${path}: ${response.status} ${await response.text()}`)
        const body = (await response.json()) as { id?: string; run?: { id: string } }
        return body.run?.id ?? body.id ?? null
      }),
    `${key} to be admitted`,
    WITHIN_MS,
  )
}

/** A session of a conversation takes only turns of that conversation. */
const sessionOf = (world: World, run: Admitted | undefined) =>
  run
    ? quietly(async () => {
        const { session, conversationId } = await world.getRun(run.id)
        return conversationId === null ? session : null
      })
    : null

/** null: the daemon is down. */
export async function countOpen(world: World): Promise<number | null> {
  const status = await quietly(() =>
    world.api<{ runs: { queued: number; running: number } }>('GET', '/api/status'),
  )
  return status && status.runs.queued + status.runs.running
}
