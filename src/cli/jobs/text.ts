/** Describes the state of a job, and what to do about it. */
import type { Attention, Job, JobState } from '../../contract/job.ts'
import { count, formatCost, formatTokens } from '../terminal/amounts.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'

/** Adds to the name of a state; empty where the name is enough. */
const MEANING: Readonly<Record<JobState, string>> = {
  queued: 'starts as soon as possible',
  running: 'the agent is working',
  waiting: 'continues automatically',
  paused: 'needs you',
  completed: '',
  failed: 'not continued',
  cancelled: '',
}

/** One or two words, for a table. */
export function jobStateOf({ state, attention, outcome, waitingUntil }: Job): string {
  if (state === 'waiting' && waitingUntil) return `waiting (${formatTime(waitingUntil)})`
  if (state === 'paused') return `paused (${attention ?? outcome})`
  if (isAsking({ state, attention })) return 'asks you'
  return state === 'failed' && outcome ? `failed (${outcome})` : state
}

const isAsking = ({ state, attention }: Pick<Job, 'state' | 'attention'>) =>
  state === 'running' && attention === 'question'

/** One sentence. */
export function explainState(job: Job, now = new Date()): string {
  const { state, waitingUntil, message } = job
  const when = state === 'waiting' && waitingUntil ? ` at ${formatTime(waitingUntil, now)}` : ''
  const why = message && message !== state ? `: ${withLocalTimes(message, now)}` : ''
  const isSaid = MEANING[state] === '' || isAsking(job) || (state === 'queued' && why !== '')
  const meaning = isSaid ? '' : `, ${MEANING[state]}`
  return `${jobStateOf(job)}${meaning}${when}${why}`
}

const WANTED: Readonly<Record<Attention, string>> = {
  budget: 'more budget',
  'turn-limit': 'permission for more turns (the same number, or --max-turns)',
  question: 'an answer; the agent asks again when it continues',
  auth: 'the agent to be logged in',
  quarantine: 'permission to try again, although the daemon crashed on it',
  'work-dir': 'a check of its directory, which was changed after the agent stopped',
  outage: 'a check why the model cannot be reached',
  limit: 'a check why the account is still limited',
}

/** What a job needs to continue, and the commands for it; empty for a job that continues without a person. */
export function whatNext(job: Job): { needs: string | null; commands: string[] } {
  const { id, state, attention, session } = job
  const retry = `reprise jobs retry ${id}`
  if (state === 'completed') {
    return { needs: null, commands: session ? [`reprise run --session ${session} "…"`] : [] }
  }
  // The prompt did not fit into a new session either, so that a retry cannot succeed.
  if (state === 'failed' && job.outcome === 'context-overflow') {
    return { needs: 'a shorter prompt, or a model with a larger context', commands: [] }
  }
  if (state === 'failed' || state === 'cancelled') return { needs: null, commands: [retry] }
  if (state === 'waiting') return { needs: null, commands: [retry] }
  if (state !== 'paused' || attention === null) return { needs: null, commands: [] }
  const needs = WANTED[attention]
  if (attention === 'budget') return { needs, commands: [raiseCommand(job)] }
  if (attention === 'work-dir') return { needs, commands: [`reprise jobs diff ${id}`, retry] }
  return { needs, commands: [retry] }
}

/** Suggests twice the limit that was reached, or twice what was used if that is more. */
function raiseCommand({ id, maxBudgetUsd, maxBudgetTokens, spent }: Job): string {
  const isMoney = maxBudgetTokens === null || (maxBudgetUsd !== null && spent.usd >= maxBudgetUsd)
  const twice = (limit: number, used: number) => Number((Math.max(limit, used) * 2).toPrecision(2))
  const option = isMoney
    ? `--budget-usd ${maxBudgetUsd === null ? 'AMOUNT' : twice(maxBudgetUsd, spent.usd)}`
    : `--budget-tokens ${twice(maxBudgetTokens, spent.tokens)}`
  return `reprise jobs raise ${id} ${option}`
}

/** What counts against the budget. If follow-ups are included, also what the job's own runs have spent. */
export function budgetText({ maxBudgetUsd, maxBudgetTokens, progress, spent }: Job): string {
  const shared = spent.followUpRuns > 0
  const cost = formatCost(shared ? spent.usd : progress.costUsd)
  const ofUsd = maxBudgetUsd === null ? '' : ` of ${formatCost(maxBudgetUsd)}`
  const used = formatTokens(shared ? spent.tokens : progress.tokens)
  const ofTokens = maxBudgetTokens === null ? '' : ` of ${formatTokens(maxBudgetTokens)}`
  const total = `${cost}${ofUsd}, ${used}${ofTokens} tokens`
  if (!shared) return total
  const own = `${formatCost(progress.costUsd)}, ${formatTokens(progress.tokens)} tokens`
  return `${total}, including ${count(spent.followUpRuns, 'follow-up run')}; without them ${own}`
}
