/** What a job's state means, and what to do about it. */
import type { Attention, Job, JobState } from '../../contract/job.ts'
import { count, formatCost, formatTokens } from '../terminal/amounts.ts'

/** Beyond what its name says. */
const MEANING: Readonly<Record<JobState, string>> = {
  queued: 'waits for a place',
  running: 'the agent is at work',
  waiting: 'goes on by itself',
  paused: 'needs you',
  completed: '',
  failed: 'given up',
  cancelled: 'stopped on request',
}

/** In one or two words, for a table. */
export function jobStateOf({ state, attention, outcome, waitingUntil }: Job): string {
  if (state === 'waiting' && waitingUntil) return `waiting (${formatTime(waitingUntil)})`
  if (state === 'paused') return `paused (${attention ?? outcome})`
  if (state === 'running' && attention === 'question') return 'asking you'
  return state === 'failed' && outcome ? `failed (${outcome})` : state
}

/** In a sentence. */
export function explainState(job: Job): string {
  const { state, waitingUntil, message } = job
  const when = state === 'waiting' && waitingUntil ? ` at ${formatTime(waitingUntil)}` : ''
  const why = message && message !== state ? `: ${message}` : ''
  const meaning = MEANING[state] === '' ? '' : `, ${MEANING[state]}`
  return `${jobStateOf(job)}${meaning}${when}${why}`
}

const WANTED: Readonly<Record<Attention, string>> = {
  budget: 'more budget',
  'turn-limit': 'your word that it may take as many turns again, or more (--max-turns)',
  question: 'an answer; it asks again when it goes on',
  auth: 'the agent to be logged in',
  quarantine: 'your word that it may be tried again, although the daemon died of it',
  'work-dir': 'somebody to look at its directory, which is not as its agent left it',
  outage: 'somebody to find out why the model cannot be reached',
  limit: 'somebody to find out why the account is still limited',
}

/** What a job that stands still needs, and the commands that make it go on; nothing for one that does not. */
export function whatNext(job: Job): { needs: string | null; commands: string[] } {
  const { id, state, attention, session } = job
  const retry = `reprise jobs retry ${id}`
  if (state === 'completed') {
    return { needs: null, commands: session ? [`reprise run --session ${session} "…"`] : [] }
  }
  // It did not fit into a fresh session either: to ask the same again is in vain.
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

/** Twice what was allowed or used of what ran out, whichever is more. */
function raiseCommand({ id, maxBudgetUsd, maxBudgetTokens, spent }: Job): string {
  const isMoney = maxBudgetTokens === null || (maxBudgetUsd !== null && spent.usd >= maxBudgetUsd)
  const twice = (limit: number, used: number) => Number((Math.max(limit, used) * 2).toPrecision(2))
  const option = isMoney
    ? `--budget-usd ${maxBudgetUsd === null ? 'AMOUNT' : twice(maxBudgetUsd, spent.usd)}`
    : `--budget-tokens ${twice(maxBudgetTokens, spent.tokens)}`
  return `reprise jobs raise ${id} ${option}`
}

/** What counts against the budget; where follow-ups have a part in it, also what the job's own runs have spent. */
export function budgetText({ maxBudgetUsd, maxBudgetTokens, progress, spent }: Job): string {
  const shared = spent.followUpRuns > 0
  const cost = formatCost(shared ? spent.usd : progress.costUsd)
  const ofUsd = maxBudgetUsd === null ? '' : ` of ${formatCost(maxBudgetUsd)}`
  const used = formatTokens(shared ? spent.tokens : progress.tokens)
  const ofTokens = maxBudgetTokens === null ? '' : ` of ${formatTokens(maxBudgetTokens)}`
  const total = `${cost}${ofUsd}, ${used}${ofTokens} tokens`
  if (!shared) return total
  const own = `${formatCost(progress.costUsd)}, ${formatTokens(progress.tokens)} tokens`
  return `${total}, ${count(spent.followUpRuns, 'run')} of follow-ups included; without them ${own}`
}

/** By the clock on the wall here; with the day if it is another one. */
export function formatTime(at: string, now = new Date()): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  if (date.toDateString() === now.toDateString()) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}
