/**
 * How an attempt ended: what Reprise did has precedence over what the CLI reported, and that over how its process
 * ended.
 */
import { describe, expect, it } from 'vitest'
import type { Exit, StopCause } from '../../src/agents/adapter.ts'
import { classifyClaude } from '../../src/agents/claude/classify.ts'
import { parseClaudeLine } from '../../src/agents/claude/parse.ts'
import type { EventOf } from '../../src/contract/events.ts'
import type { OutcomeName } from '../../src/contract/outcome.ts'

const exit = (change: Partial<Exit> = {}): Exit => ({
  stopCause: null,
  turnEnd: null,
  resetsAt: null,
  exitCode: 0,
  stderr: '',
  ...change,
})

const turnEnd = (name: OutcomeName): EventOf<'turn-end'> => ({
  type: 'turn-end',
  outcome: { name, message: 'said' },
})
const nameOf = (change: Partial<Exit>) => classifyClaude(exit(change)).name

describe('the cause for which Reprise stopped it', () => {
  it.each<[StopCause, OutcomeName]>([
    ['cancelled', 'cancelled'],
    ['timed-out', 'timed-out'],
    ['silent', 'timed-out'],
    ['output-limit', 'output-limit'],
    ['question-timeout', 'question-timeout'],
    ['budget', 'budget'],
    ['rate-limited', 'rate-limited'],
    ['outage', 'outage'],
  ])('%s has precedence over what the CLI reported and how it exited', (stopCause, name) => {
    expect(nameOf({ stopCause, turnEnd: turnEnd('turn-limit') })).toBe(name)
    expect(nameOf({ stopCause, turnEnd: turnEnd('api-error'), exitCode: 143 })).toBe(name)
    expect(nameOf({ stopCause, exitCode: null, stderr: 'No conversation found' })).toBe(name)
  })

  it('says of a silent agent that it printed nothing', () => {
    expect(classifyClaude(exit({ stopCause: 'silent', exitCode: 143 })).message).toContain('nothing')
  })

  it.each(['timed-out', 'silent', 'budget', 'rate-limited', 'outage'] as const)(
    '%s does not override a turn that had finished: it must not be repeated',
    (stopCause) => {
      expect(nameOf({ stopCause, turnEnd: turnEnd('completed'), exitCode: 143 })).toBe('completed')
    },
  )

  it.each(['cancelled', 'output-limit', 'question-timeout'] as const)(
    '%s applies although the turn had finished',
    (stopCause) => {
      expect(nameOf({ stopCause, turnEnd: turnEnd('completed') })).toBe(stopCause)
    },
  )

  it('is ignored when the process hung after its result', () => {
    expect(nameOf({ stopCause: 'hung-after-result', turnEnd: turnEnd('completed'), exitCode: 143 })).toBe(
      'completed',
    )
    expect(nameOf({ stopCause: 'hung-after-result', turnEnd: turnEnd('budget'), exitCode: null })).toBe(
      'budget',
    )
  })
})

describe('the result of the CLI', () => {
  it('has precedence over the exit code', () => {
    expect(nameOf({ turnEnd: turnEnd('completed'), exitCode: 137 })).toBe('completed')
    expect(nameOf({ turnEnd: turnEnd('turn-limit'), exitCode: 0 })).toBe('turn-limit')
  })

  it('includes the reset time of a limit, if there was one', () => {
    const resetsAt = '2027-01-15T08:00:00.000Z'
    expect(classifyClaude(exit({ turnEnd: turnEnd('rate-limited'), resetsAt }))).toHaveProperty(
      'resetsAt',
      resetsAt,
    )
    expect(classifyClaude(exit({ turnEnd: turnEnd('completed'), resetsAt }))).not.toHaveProperty('resetsAt')
  })
})

describe('without a result', () => {
  it.each<[string, number | null, string, OutcomeName, string]>([
    ['exit 0 with nothing said', 0, '', 'crashed', 'exited with 0 without a result'],
    ['killed', null, '', 'crashed', 'was killed'],
    ['ended by SIGKILL', 137, '', 'crashed', 'signal 9'],
    ['ended by SIGTERM', 143, '', 'crashed', 'signal 15'],
    ['not executable', 126, 'sh: denied', 'crashed', 'could not be started (exit 126): sh: denied'],
    ['not there', 127, '', 'crashed', 'could not be started (exit 127)'],
    ['a stack on stderr', 2, 'trace\nError: boom\n', 'crashed', 'Error: boom'],
    ['id taken', 1, 'Error: Session ID abc is already in use.', 'session-busy', 'already in use'],
    [
      'no such session',
      1,
      'No conversation found with session ID: x',
      'session-missing',
      'No conversation found',
    ],
    ['no such title', 1, 'Error: --resume needs a session', 'session-missing', '--resume'],
  ])('%s', (_, exitCode, stderr, name, message) => {
    const outcome = classifyClaude(exit({ exitCode, stderr }))
    expect(outcome.name).toBe(name)
    expect(outcome.message).toContain(message)
  })

  it('ignores stderr when the process was killed', () => {
    expect(nameOf({ exitCode: 137, stderr: 'No conversation found' })).toBe('crashed')
  })
})

describe('result lines of forms that were not captured', () => {
  const outcomeOf = (fields: object) => {
    const [event] = parseClaudeLine(JSON.stringify({ type: 'result', ...fields }))
    return event?.type === 'turn-end' ? event.outcome.name : undefined
  }

  it.each<[string, object, OutcomeName]>([
    ['401', { subtype: 'success', is_error: true, api_error_status: 401 }, 'auth'],
    ...[500, 502, 503, 529].map((status): [string, object, OutcomeName] => [
      `${status}`,
      { subtype: 'success', is_error: true, terminal_reason: 'api_error', api_error_status: status },
      'outage',
    ]),
    [
      'a connection that failed',
      { subtype: 'success', is_error: true, terminal_reason: 'api_error', api_error_status: null },
      'outage',
    ],
    [
      'no login',
      {
        subtype: 'success',
        is_error: true,
        terminal_reason: 'api_error',
        api_error_status: null,
        result: 'Not logged in · Please run /login',
      },
      'auth',
    ],
    ['a 400 that is no overflow', { subtype: 'success', is_error: true, api_error_status: 400 }, 'api-error'],
    [
      'an error after turns were made',
      { subtype: 'error_during_execution', is_error: true, num_turns: 2, duration_api_ms: 0 },
      'api-error',
    ],
    [
      'an error after the model was asked',
      { subtype: 'error_during_execution', is_error: true, num_turns: 0, duration_api_ms: 5 },
      'api-error',
    ],
    [
      'an error that has a reason',
      { subtype: 'error_during_execution', num_turns: 0, duration_api_ms: 0, terminal_reason: 'x' },
      'api-error',
    ],
    [
      'a translated text for a missing session',
      {
        subtype: 'error_during_execution',
        num_turns: 0,
        duration_api_ms: 0,
        errors: ['Sitzung nicht gefunden'],
      },
      'session-missing',
    ],
    ['a kind of failure that is new', { subtype: 'error_max_patience', is_error: false }, 'api-error'],
    ['nothing at all', {}, 'api-error'],
    [
      'the words of an error in an answer',
      {
        subtype: 'success',
        is_error: false,
        result: 'No conversation found; rate limit; prompt is too long',
      },
      'completed',
    ],
  ])('%s', (_, fields, name) => {
    expect(outcomeOf(fields)).toBe(name)
  })
})
