/**
 * Determines how a Claude Code process ended. Structured facts come first: what Reprise did, the fields of the result
 * line, the exit code. Text is checked last, and only where the CLI reports a fact in no other way, because texts
 * change between versions and languages.
 */
import type { EventOf } from '../../contract/events.ts'
import type { Outcome, OutcomeName } from '../../contract/outcome.ts'
import type { Exit, StopCause } from '../adapter.ts'
import { type Json, optionalInteger } from './wire.ts'

/**
 * Outcomes for the causes for which Reprise ends a process. A process that hangs after its result has still finished.
 */
const STOPPED: Record<Exclude<StopCause, 'hung-after-result'>, Outcome> = {
  cancelled: { name: 'cancelled', message: 'cancelled' },
  unauthorized: { name: 'auth', message: 'the model refused the credentials repeatedly' },
  'timed-out': { name: 'timed-out', message: 'ran longer than its maximum duration' },
  silent: { name: 'timed-out', message: 'printed nothing for longer than its idle timeout' },
  'output-limit': { name: 'output-limit', message: 'printed more than its output limit' },
  'question-timeout': { name: 'question-timeout', message: 'nobody answered its question in time' },
  'question-edited': { name: 'cancelled', message: 'its question was edited' },
  budget: { name: 'budget', message: 'its budget is used up' },
  'rate-limited': { name: 'rate-limited', message: 'the model accepts no more requests for now' },
  'session-conflict': { name: 'session-busy', message: 'another process was writing the same session' },
  'disk-full': { name: 'crashed', message: 'stopped because the disk is full' },
  outage: { name: 'outage', message: 'the model could not be reached, or did not answer' },
}

/** Causes after which the run would be continued. */
const GOES_ON: readonly (StopCause | null)[] = [
  'timed-out',
  'silent',
  'budget',
  'rate-limited',
  'outage',
  'session-conflict',
  'disk-full',
]

export function classifyClaude(exit: Exit): Outcome {
  const { stopCause, turnEnd } = exit
  // Work that was finished before the stop took effect must not be done and paid for again.
  const finished = turnEnd?.outcome.name === 'completed' && GOES_ON.includes(stopCause)
  const outcome =
    stopCause !== null && stopCause !== 'hung-after-result' && !finished
      ? STOPPED[stopCause]
      : (turnEnd?.outcome ?? withoutResult(exit))
  if (stopCause === 'outage' && outcome.name === 'outage' && exit.limitScope) {
    const message = exit.limitScope === 'model' ? 'the model is overloaded or failing' : outcome.message
    return { name: 'outage', message, scope: exit.limitScope }
  }
  if (outcome.name !== 'rate-limited') return outcome
  return {
    ...outcome,
    ...(exit.resetsAt ? { resetsAt: exit.resetsAt } : {}),
    ...(exit.limitScope ? { scope: exit.limitScope } : {}),
  }
}

/** Without a result line, the process died, never started properly, or refused its arguments. */
function withoutResult({ exitCode, stderr }: Exit): Outcome {
  const said = lastLine(stderr)
  if (exitCode === 1 && /session id .* is already in use/i.test(stderr)) {
    return { name: 'session-busy', message: said }
  }
  if (exitCode === 1 && /no conversation found|--resume/i.test(stderr))
    return { name: 'session-missing', message: said }
  if (exitCode === 127 || exitCode === 126) {
    return {
      name: 'crashed',
      message: `the agent could not be started (exit ${exitCode})${said ? `: ${said}` : ''}`,
    }
  }
  const how =
    exitCode === null
      ? 'the agent was killed'
      : exitCode > 128
        ? `the agent was ended by signal ${exitCode - 128}`
        : `the agent exited with ${exitCode} without a result`
  return { name: 'crashed', message: said ? `${how}: ${said}` : how }
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.slice(0, 500) ?? ''

/**
 * Classifies the result line of the CLI. `subtype` alone is not enough: an overflow, a refused login and a rate limit
 * all report "success" with `is_error` set, and differ in `terminal_reason` and `api_error_status`. An unknown
 * `subtype` is not a success.
 */
export function classifyResult(result: Json): Outcome {
  const message = resultMessage(result)
  const status = result.api_error_status
  const outcome = (name: OutcomeName): Outcome => ({ name, message, ...optionalInteger('apiStatus', status) })
  switch (result.subtype) {
    case 'error_max_turns':
      return outcome('turn-limit')
    case 'error_max_budget_usd':
      return outcome('budget')
    case 'error_during_execution':
      return outcome(neverReachedModel(result) ? 'session-missing' : 'api-error')
  }
  if (result.is_error !== true && result.subtype === 'success')
    return { name: 'completed', message: 'completed' }
  if (OVERFLOWS.includes(result.terminal_reason)) return outcome('context-overflow')
  if (status === 401 || status === 403 || isNotLoggedIn(result)) return outcome('auth')
  if (status === 429) return outcome('rate-limited')
  // Overloaded or failing servers do answer, and may affect one model only. A request without a status got no answer:
  // the connection was refused or lost, or the name, the proxy or the certificate is wrong.
  if (typeof status === 'number' && status >= 500) return { ...outcome('outage'), scope: 'model' }
  if (status == null && result.terminal_reason === 'api_error') {
    return { ...outcome('outage'), scope: 'account' }
  }
  // A 400 that is not an overflow means that the API refuses the stored history, so resuming again would fail too.
  return status === 400 ? { ...outcome('api-error'), historyRefused: true } : outcome('api-error')
}

/** Why a request is retried, by the status of its answer. A request without a status got no answer. */
export function whyRetried(status: unknown): Pick<EventOf<'retry-wait'>, 'why'> {
  if (status === 401) return { why: 'auth' }
  if (status === 429) return { why: 'rate-limited' }
  return typeof status !== 'number' || status >= 500 ? { why: 'outage' } : {}
}

/** Without a login the CLI makes no request and reports no status. Only its text names the login command. */
const isNotLoggedIn = ({ api_error_status: status, result }: Json) =>
  status == null && typeof result === 'string' && /\/login\b/.test(result)

/** The first is reported by the API, the second by the CLI when it does not send the request. */
const OVERFLOWS: readonly unknown[] = ['prompt_too_long', 'blocking_limit']

/** The CLI found no session: it failed before any turn and any request, without a terminal reason. */
function neverReachedModel(result: Json): boolean {
  return result.num_turns === 0 && result.duration_api_ms === 0 && !result.terminal_reason
}

function resultMessage(result: Json): string {
  const errors = Array.isArray(result.errors) ? result.errors.filter((e) => typeof e === 'string') : []
  const text = errors.length > 0 ? errors.join('; ') : typeof result.result === 'string' ? result.result : ''
  const words = [text.slice(0, 2000), result.terminal_reason, result.subtype]
  return words.find((word): word is string => typeof word === 'string' && word !== '') ?? 'unknown'
}
