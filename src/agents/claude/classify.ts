/**
 * How a Claude Code process ended. Structure first: what we did, the result line's fields, the exit code. Text is
 * looked at last and only where the CLI says a thing in no other way; it drifts, and gets translated.
 */
import type { EventOf } from '../../contract/events.ts'
import type { Outcome, OutcomeName } from '../../contract/outcome.ts'
import type { Exit, StopCause } from '../adapter.ts'
import { type Json, optionalInteger } from './wire.ts'

/** Causes of ours that say how the attempt ended. After its result a process that hangs has still finished. */
const STOPPED: Record<Exclude<StopCause, 'hung-after-result'>, Outcome> = {
  cancelled: { name: 'cancelled', message: 'cancelled' },
  unauthorized: { name: 'auth', message: 'the model refused the credentials, again and again' },
  'timed-out': { name: 'timed-out', message: 'ran longer than its maximum duration' },
  silent: { name: 'timed-out', message: 'printed nothing for longer than its idle timeout' },
  'output-limit': { name: 'output-limit', message: 'printed more than its output limit' },
  'question-timeout': { name: 'question-timeout', message: 'nobody answered its question in time' },
  'question-edited': { name: 'cancelled', message: 'its question was edited' },
  budget: { name: 'budget', message: 'its budget is used up' },
  'rate-limited': { name: 'rate-limited', message: 'the model takes no more requests for a while' },
  'session-conflict': { name: 'session-busy', message: 'another process was writing the same session' },
  outage: { name: 'outage', message: 'the model could not be reached, or did not answer' },
}

/** Ends of ours after which the work would go on. */
const GOES_ON: readonly (StopCause | null)[] = [
  'timed-out',
  'silent',
  'budget',
  'rate-limited',
  'outage',
  'session-conflict',
]

export function classifyClaude(exit: Exit): Outcome {
  const { stopCause, turnEnd } = exit
  // What was finished before our stop got through is finished, and must not be done and paid for again.
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

/** No result line: the process died, never started properly, or refused its arguments. */
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
 * The result line of the CLI. `subtype` alone does not tell: an overflow, a refused login and a rate limit all say
 * "success" with `is_error` set, and `terminal_reason` and `api_error_status` tell them apart. A `subtype` that is new
 * to us is no success.
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
  // Overloaded or failing servers answer, perhaps for one model only. A request without a status was never answered:
  // the connection was refused or lost, or the name, the proxy or the certificate is wrong.
  if (typeof status === 'number' && status >= 500) return { ...outcome('outage'), scope: 'model' }
  if (status == null && result.terminal_reason === 'api_error') {
    return { ...outcome('outage'), scope: 'account' }
  }
  // A 400 that is no overflow says that the stored history itself is not accepted: resuming again will not cure it.
  return status === 400 ? { ...outcome('api-error'), historyRefused: true } : outcome('api-error')
}

/** Why a request is tried again, by the status of its answer. A request without one was never answered. */
export function whyRetried(status: unknown): Pick<EventOf<'retry-wait'>, 'why'> {
  if (status === 401) return { why: 'auth' }
  if (status === 429) return { why: 'rate-limited' }
  return typeof status !== 'number' || status >= 500 ? { why: 'outage' } : {}
}

/** Without a login the CLI makes no request: there is no status, and only its words name the command that helps. */
const isNotLoggedIn = ({ api_error_status: status, result }: Json) =>
  status == null && typeof result === 'string' && /\/login\b/.test(result)

/** Said by the model, and said by the CLI itself when it does not even try. */
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
