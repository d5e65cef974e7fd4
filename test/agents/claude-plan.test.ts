/** The command line and the lines on stdin that the CLI gets. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PlanInput } from '../../src/agents/adapter.ts'
import { answerClaude, farewellClaude } from '../../src/agents/claude/answer.ts'
import { planClaude } from '../../src/agents/claude/plan.ts'
import { PERMISSION_MODES } from '../../src/contract/create-run.ts'
import type { EventOf } from '../../src/contract/events.ts'
import { checkProperty } from '../core/random.ts'
import { capturedEvents, only } from './captured.ts'
import { CAPABLE } from './fixtures/capture.ts'
import { temporaryDir } from './temporary-dir.ts'

const SESSION = '11111111-2222-4333-8444-555555555555'
const PROMPT_ID = '99999999-8888-4777-8666-555555555555'

const input = (change: Partial<PlanInput> = {}): PlanInput => ({
  runtime: { version: '2', capabilities: CAPABLE },
  decision: { kind: 'fresh', reason: 'first-run', carry: 'none' },
  agentSessionId: SESSION,
  promptId: PROMPT_ID,
  prompt: ['hello'],
  model: null,
  permissions: 'ask',
  maxTurns: null,
  maxBudgetUsd: null,
  extraArgs: [],
  gated: false,
  tier: null,
  directory: { workDir: '/work', applies: true, instructions: null },
  ...change,
})

const incapable = (name: keyof typeof CAPABLE) => ({
  runtime: { ...input().runtime, capabilities: { ...CAPABLE, [name]: false } },
})

const resume = { kind: 'resume', agentSessionId: SESSION, carry: 'none' } as const

it('a turn that resumes is planned byte for byte like the previous one, except for the session and the prompt', () => {
  const tier = { tools: ['Bash', 'Read'], schema: { type: 'object', properties: { a: { type: 'string' } } } }
  for (const change of [{}, { gated: true, tier, model: 'haiku' }] as Partial<PlanInput>[]) {
    const [first, second] = [{}, { decision: resume }].map((d) => planClaude(input({ ...change, ...d })))
    const withoutSession = (args: readonly string[]) =>
      args.filter((arg) => !/^--(session-id|resume)=/.test(arg))
    expect(withoutSession(second!.args)).toEqual(withoutSession(first!.args))
    expect(second!.input).toEqual(first!.input)
  }
})

describe('the command line', () => {
  it('uses stream-json both ways, and always has the permission mode', () => {
    const { args } = planClaude(input())
    expect(args).toEqual(
      expect.arrayContaining([
        '-p',
        '--verbose',
        '--input-format=stream-json',
        '--output-format=stream-json',
      ]),
    )
    expect(args).toContain('--permission-prompt-tool=stdio')
    const modes = PERMISSION_MODES.map((permissions) =>
      planClaude(input({ permissions })).args.filter((arg) => arg.startsWith('--permission-mode=')),
    )
    expect(modes.flat()).toEqual([
      '--permission-mode=default',
      '--permission-mode=default',
      '--permission-mode=acceptEdits',
      '--permission-mode=acceptEdits',
    ])
  })

  it('assigns an id to a new session in advance, and resumes with one token', () => {
    const fresh = planClaude(input()).args
    expect(fresh).toContain(`--session-id=${SESSION}`)
    expect(fresh.join(' ')).not.toContain('--resume')
    const resumed = planClaude(input({ decision: resume })).args
    expect(resumed).toContain(`--resume=${SESSION}`)
    expect(resumed.join(' ')).not.toContain('--session-id')
    expect(resumed).not.toContain(SESSION)
  })

  it('keeps an id that looks like a flag in its token', () => {
    const { args } = planClaude(input({ decision: resume, agentSessionId: '--settings=/evil' }))
    expect(args).toContain('--resume=--settings=/evil')
    expect(args).not.toContain('--settings=/evil')
  })

  it.each([
    ['sessionId', '--session-id', {}],
    ['partialMessages', '--include-partial-messages', {}],
    ['permissionPrompt', '--permission-prompt-tool', {}],
    ['budget', '--max-budget-usd', { maxBudgetUsd: 3 }],
  ] as const)('without the capability %s has no %s', (capability, flag, change) => {
    const present = (change_: Partial<PlanInput>) =>
      planClaude(input(change_)).args.some((arg) => arg.startsWith(flag))
    expect(present(change)).toBe(true)
    expect(present({ ...change, ...incapable(capability) })).toBe(false)
  })

  it('passes limits and model if there are any', () => {
    const { args } = planClaude(
      input({ maxTurns: 7, maxBudgetUsd: 1.5, model: 'haiku', extraArgs: ['--add-dir=/x'] }),
    )
    expect(args).toEqual(
      expect.arrayContaining(['--max-turns=7', '--max-budget-usd=1.5', '--model=haiku', '--add-dir=/x']),
    )
    expect(planClaude(input()).args.join(' ')).not.toMatch(/--max-|--model/)
  })

  it('never contains any part of the prompt', () => {
    const dangerous = fc.constantFrom(
      '--settings={"hooks":{}}',
      '-p',
      '--resume',
      '$(touch x)',
      '; rm -rf /',
      '\n',
      '\0',
    )
    checkProperty(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), dangerous),
        fc.constantFrom(...PERMISSION_MODES),
        (text, permissions) => {
          const plain = planClaude(input({ permissions }))
          const { args, input: lines } = planClaude(input({ prompt: [text], permissions }))
          expect(args).toEqual(plain.args)
          for (const { line } of lines) expect(line).not.toContain('\n')
          expect(JSON.parse(lines.at(-1)?.line ?? '').message).toEqual({ role: 'user', content: text })
        },
      ),
      1000,
    )
  })
})

describe('stdin', () => {
  it('has the prompt under the id by which it is found in the transcript, and before it the hook for scheduling tools', () => {
    const { input: lines } = planClaude(input())
    expect(lines.map(({ id }) => id)).toEqual(['initialize', `prompt-${PROMPT_ID}`])
    const [{ matcher }] = JSON.parse(lines[0]?.line ?? '').request.hooks.PreToolUse
    expect(matcher.split('|').sort()).toEqual(['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'])
    expect(JSON.parse(lines[1]?.line ?? '')).toEqual({
      type: 'user',
      uuid: PROMPT_ID,
      message: { role: 'user', content: 'hello' },
    })
  })

  it('has the hook for every tool before the prompt, if a person decides on all of them', () => {
    const { input: lines } = planClaude(input({ permissions: 'ask-all' }))
    expect(lines.map(({ id }) => id)).toEqual(['initialize', `prompt-${PROMPT_ID}`])
    expect(JSON.parse(lines[0]?.line ?? '')).toMatchObject({
      type: 'control_request',
      request: {
        subtype: 'initialize',
        hooks: { PreToolUse: [{ matcher: '*' }], SessionStart: [{ matcher: 'compact' }] },
      },
    })
  })
})

describe('an answer', () => {
  const reply = (ask: Parameters<typeof answerClaude>[0], answer: Parameters<typeof answerClaude>[1]) =>
    JSON.parse(answerClaude(ask, answer).line).response
  const [permission] = only(capturedEvents('asks-permission'), 'permission-ask')
  const [hook] = only(capturedEvents('calls-the-hook'), 'permission-ask')
  const [question] = only(capturedEvents('asks-a-question'), 'question-ask')

  it('to a permission request allows with the input unchanged, or denies with the reason', () => {
    const ask = permission as EventOf<'permission-ask'>
    expect(reply(ask, { decision: 'allow' })).toEqual({
      subtype: 'success',
      request_id: ask.requestId,
      response: { behavior: 'allow', updatedInput: { command: 'touch made', description: 'make a file' } },
    })
    expect(reply(ask, { decision: 'deny', message: 'no' }).response).toEqual({
      behavior: 'deny',
      message: 'no',
    })
    expect(reply(ask, { decision: 'deny' }).response.message).toMatch(/refused/)
  })

  it('to the hook decides as a hook does', () => {
    const ask = hook as EventOf<'permission-ask'>
    expect(reply(ask, { decision: 'allow' }).response.hookSpecificOutput).toMatchObject({
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
    })
    expect(reply(ask, { decision: 'deny', message: 'no' }).response.hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: 'no',
    })
  })

  it('to a question returns the questions with the answers by their text', () => {
    const ask = question as EventOf<'question-ask'>
    const { response } = reply(ask, { answers: { 'Which colour?': 'Blue' } })
    expect(response).toEqual({
      behavior: 'allow',
      updatedInput: { questions: ask.questions, answers: { 'Which colour?': 'Blue' } },
    })
    expect(reply(ask, { decision: 'deny' }).response.behavior).toBe('deny')
  })

  it('has a separate id for each request, so that it is delivered once', () => {
    const ask = permission as EventOf<'permission-ask'>
    const id = answerClaude(ask, { decision: 'allow' }).id
    expect(id).toBe(answerClaude(ask, { decision: 'deny' }).id)
    expect(id).not.toBe(answerClaude({ ...ask, requestId: 'other' }, { decision: 'allow' }).id)
  })
})

describe('shutdown messages', () => {
  const subtypes = (cause: Parameters<typeof farewellClaude>[0]) =>
    farewellClaude(cause).messages.map(({ line }) => JSON.parse(line).request.subtype)

  it('after the turn end the session and close stdin', () => {
    for (const cause of ['done', 'hung-after-result'] as const) {
      expect(subtypes(cause)).toEqual(['end_session'])
      expect(farewellClaude(cause).closeInput).toBe(true)
    }
  })

  it('for a cancelled run begin with an interrupt', () => {
    expect(subtypes('cancelled')).toEqual(['interrupt', 'end_session'])
  })

  it.each(['cancelled', 'timed-out', 'silent', 'output-limit', 'question-timeout'] as const)(
    'never closes stdin before the turn is over (%s): the CLI would take that for a refusal',
    (cause) => {
      expect(farewellClaude(cause).closeInput).toBe(false)
    },
  )
})

it('the real CLI knows every flag that is sent to it', async () => {
  const claude = join(import.meta.dirname, '../../node_modules/.bin/claude')
  const { stdout } = await promisify(execFile)(claude, ['--help'], {
    env: { PATH: process.env.PATH, HOME: temporaryDir() },
  })
  const { args } = planClaude(input({ maxBudgetUsd: 1, model: 'haiku', decision: resume }))
  const flags = [...args, ...planClaude(input()).args].map((arg) => arg.split('=')[0] ?? '')
  const unknown = flags.filter((flag) => flag !== '--permission-prompt-tool' && !stdout.includes(flag))
  expect(unknown).toEqual([])
})
