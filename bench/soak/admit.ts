/**
 * Work counts as admitted once a daemon has confirmed it; until then it is requested again with the same idempotency
 * key, whatever happened to the daemon meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { CreateJob } from '../../src/contract/create-job.ts'
import type { CreateRun } from '../../src/contract/create-run.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import type { Page } from '../../src/contract/http.ts'
import type { Run } from '../../src/contract/run.ts'
import type { RunMessage } from '../../src/contract/run-message.ts'
import { until } from '../../test/support/world.ts'
import type { Admitted, AdmittedJob, Round } from './admitted.ts'
import { type Asker, ask, Refused, read } from './ask.ts'
import type { Random } from './random.ts'
import { isTask, messagesIn, promptOf } from './scenario.ts'
import { type JobWork, jobDir, type RunWork } from './work.ts'

const WITHIN_MS = 180_000

export async function admitRun(round: Round, work: RunWork, random: Random): Promise<void> {
  const { world, admitted } = round
  const { tag, permissions } = work
  if (work.as === 'turn') {
    const conversation = await conversationOf(round, random)
    const id = await admit(round, `/api/conversations/${conversation}/turns`, { text: promptOf(tag) }, tag)
    admitted.push({ tag, id, cancelled: false })
    return
  }
  if (work.as === 'follow-up' && (await admitFollowUp(round, work, random))) return
  const session = work.inSession ? await sessionOf(round, random.pick(admitted)) : null
  const request: CreateRun = {
    prompt: promptOf(tag),
    workDir: world.workDir,
    ...(work.as === 'chain' ? {} : { permissions }),
    ...(work.as === 'chain' ? { tier: 1, maxTier: 2 } : session ? { sessionId: session } : {}),
  }
  const entry: Admitted = { tag, id: await admit(round, '/api/runs', request, tag), cancelled: false }
  admitted.push(entry)
  if (work.cancelAfterMs === null) return
  await delay(work.cancelAfterMs)
  entry.cancelled = true
  await ask(round, 'POST', `/api/runs/${entry.id}/cancel`)
}

export async function admitJob(round: Round, work: JobWork): Promise<AdmittedJob> {
  const { world, jobs, seen } = round
  const request: CreateJob = {
    prompt: promptOf(work.tag),
    workDir: jobDir(world, work.dir),
    permissions: work.permissions,
    priority: work.priority,
    maxResumes: work.maxResumes,
    ...(work.timeoutMs === null ? {} : { timeoutMs: work.timeoutMs }),
    ...(work.maxBudgetTokens === null ? {} : { maxBudgetTokens: work.maxBudgetTokens }),
  }
  const id = await admit(round, '/api/jobs', request, work.tag)
  const entry: AdmittedJob = { tag: work.tag, id, work, cancelled: false }
  jobs.push(entry)
  if (work.askTwice) {
    const again = await admit(round, '/api/jobs', request, work.tag)
    if (again !== id)
      seen.push(`${work.tag}: requested twice with one key, it got the ids ${id} and ${again}`)
  }
  return entry
}

const MAX_CONVERSATIONS = 2

async function conversationOf(round: Round, random: Random): Promise<string> {
  const { world, conversations } = round
  const known = conversations.length < MAX_CONVERSATIONS ? undefined : random.pick(conversations)
  if (known !== undefined) return known
  const id = await admit(
    round,
    '/api/conversations',
    { workDir: world.workDir },
    `conversation-${conversations.length}`,
  )
  conversations.push(id)
  return id
}

/** In the session of a run that has settled. False if there is none that can be used. */
async function admitFollowUp(round: Round, { tag }: RunWork, random: Random): Promise<boolean> {
  const { followUps } = round
  const run = random.pick(
    round.admitted.filter(({ tag: of, cancelled }) => !cancelled && !isTask(of, 'chain')),
  )
  const state = run && (await read<Run>(round, `/api/runs/${run.id}`))?.state
  if (!run || state !== 'settled') return false
  const request = { prompt: promptOf(tag), runId: run.id, inMs: 1000 }
  try {
    followUps.push({ tag, id: await admit(round, '/api/followups', request, tag) })
    return true
  } catch (error) {
    // The session cannot be used any more.
    if (error instanceof Refused) return false
    throw error
  }
}

/** The runs that follow-ups became are admitted with them. False while one of them is planned. */
export async function readFollowUps(round: Round): Promise<boolean> {
  const { admitted, followUps, seen } = round
  for (const { tag, id } of followUps) {
    if (admitted.some((one) => one.tag === tag)) continue
    const found = await read<FollowUp>(round, `/api/followups/${id}`)
    if (!found || found.state === 'planned') return false
    if (found.firedRunId) admitted.push({ tag, id: found.firedRunId, cancelled: false })
    else seen.push(`${tag} (${id}): the follow-up is ${found.state}: ${found.message}`)
  }
  return true
}

/**
 * A message that was not read in time may have become a turn of its conversation, which is admitted with it. False while
 * one is waiting, or has just become a turn: there is a run then that has not been waited for.
 */
export async function readMessages(round: Round): Promise<boolean> {
  const { admitted, messages } = round
  for (const id of messages) {
    const page = await read<Page<RunMessage>>(round, `/api/runs/${id}/messages`)
    if (!page || page.items.some(({ state }) => state === 'waiting')) return false
    for (const { text, nextRunId } of page.items) {
      if (nextRunId === null || admitted.some((one) => one.id === nextRunId)) continue
      admitted.push({ tag: messagesIn(text)[0] ?? text, id: nextRunId, cancelled: false })
      return false
    }
  }
  return true
}

async function admit(asker: Asker, path: string, body: object, key: string): Promise<string> {
  return until(
    async () => {
      const answer = await ask(asker, 'POST', path, { body, key })
      if (!answer || answer.status >= 500) return null
      const made = answer.body as { id?: string; run?: { id: string } }
      if (answer.status >= 400) throw new Refused(`POST ${path}: ${answer.status} ${JSON.stringify(made)}`)
      return made.run?.id ?? made.id ?? null
    },
    `${key} to be admitted`,
    WITHIN_MS,
  )
}

/** A session of a conversation takes only turns of that conversation, and one of a chain only its tiers. */
async function sessionOf(asker: Asker, run: Admitted | undefined): Promise<string | null> {
  const found = run && (await read<Run>(asker, `/api/runs/${run.id}`))
  return found && found.conversationId === null && found.tier === null ? found.session : null
}

/** null: the daemon is down. */
export async function countOpen(asker: Asker): Promise<number | null> {
  const status = await read<{ runs: { queued: number; running: number } }>(asker, '/api/status')
  return status && status.runs.queued + status.runs.running
}
