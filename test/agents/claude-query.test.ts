/** What a program chose for its query reaches the CLI, and the CLI's lines reach the program. */
import { describe, expect, it } from 'vitest'
import type { AgentOptions, PlanInput } from '../../src/agents/adapter.ts'
import { answerClaude } from '../../src/agents/claude/answer.ts'
import { readClaudeMessage } from '../../src/agents/claude/message.ts'
import { planClaude } from '../../src/agents/claude/plan.ts'
import { ALL_CAPABILITIES } from '../support/memory/adapter.ts'

const OPTIONS: AgentOptions = {
  systemPrompt: null,
  allowedTools: [],
  deniedTools: [],
  permissionMode: null,
  asks: false,
}

function plan(options: Partial<AgentOptions> | null) {
  const input: PlanInput = {
    runtime: { version: '2.1.325', capabilities: ALL_CAPABILITIES },
    decision: { kind: 'fresh', reason: 'first-run', carry: 'none' },
    agentSessionId: 'a',
    promptId: 'b',
    prompt: ['hello'],
    model: null,
    permissions: 'ask',
    gated: false,
    maxTurns: null,
    maxBudgetUsd: null,
    extraArgs: [],
    tier: null,
    directory: { workDir: '/work', applies: true, instructions: null },
    options: options && { ...OPTIONS, ...options },
  }
  const { args, input: lines } = planClaude(input)
  return { args, initialize: JSON.parse(lines[0]?.line ?? '{}').request }
}

describe('options', () => {
  it('are one token each, so that none can be read as another option', () => {
    const { args } = plan({ allowedTools: ['Bash(git log:*)', '--settings=x'], deniedTools: ['Write'] })
    expect(args).toContain('--allowedTools=Bash(git log:*),--settings=x')
    expect(args).toContain('--disallowedTools=Write')
  })

  it.each([
    [null, { systemPrompt: [''] }],
    [{ texts: ['You are X.'], append: false }, { systemPrompt: ['You are X.'] }],
    [{ texts: ['Be kind.'], append: true }, { appendSystemPrompt: 'Be kind.' }],
  ])('the system prompt %j is in the first message', (systemPrompt, expected) => {
    const { args, initialize } = plan({ systemPrompt })
    expect(initialize).toMatchObject(expected)
    expect(args.join(' ')).not.toContain('You are X.')
  })

  it('the system prompt of the CLI stays if it is only added to, and for runs that are no queries', () => {
    expect(plan({ systemPrompt: { texts: [], append: true } }).initialize).not.toHaveProperty('systemPrompt')
    expect(plan(null).initialize).not.toHaveProperty('systemPrompt')
  })

  it('permissions are asked for only if somebody answers', () => {
    expect(plan({}).args).not.toContain('--permission-prompt-tool=stdio')
    expect(plan({ asks: true }).args).toContain('--permission-prompt-tool=stdio')
    expect(plan(null).args).toContain('--permission-prompt-tool=stdio')
  })

  it('the permission mode is passed on', () => {
    expect(plan({ permissionMode: 'plan' }).args).toContain('--permission-mode=plan')
    expect(plan({ permissionMode: 'bypassPermissions' }).args).toEqual(
      expect.arrayContaining(['--permission-mode=bypassPermissions', '--allow-dangerously-skip-permissions']),
    )
  })
})

describe('lines', () => {
  const read = (value: unknown) =>
    readClaudeMessage(typeof value === 'string' ? value : JSON.stringify(value))

  it('are handed out as they are, with fields that nobody knows yet', () => {
    const line = { type: 'assistant', message: { content: [] }, from_the_future: 1 }
    expect(read(line)).toEqual({ kind: 'message', message: line })
    expect(read({ type: 'new_kind' })).toMatchObject({ kind: 'message' })
  })

  it('of the control protocol are not, except for what is asked', () => {
    for (const type of ['control_response', 'control_cancel_request', 'command_lifecycle', 'keep_alive'])
      expect(read({ type })).toBeNull()
    const request = { subtype: 'can_use_tool', tool_name: 'Bash' }
    expect(read({ type: 'control_request', request_id: 'r', request })).toEqual({
      kind: 'ask',
      requestId: 'r',
      request,
    })
  })

  it('that are parts of an answer are marked', () => {
    expect(read({ type: 'stream_event', event: {} })).toMatchObject({ partial: true })
    expect(read({ type: 'system', subtype: 'status' })).toMatchObject({ partial: true })
  })

  it.each(['', 'no JSON', '[]', '1', '{"no":"type"}', '{"type":7}'])('%j is no message', (line) => {
    expect(read(line)).toBeNull()
  })
})

it('an answer may change the input of the tool, and add fields of its own', () => {
  const ask = {
    type: 'permission-ask',
    requestId: 'r',
    toolUseId: 't',
    tool: 'Bash',
    input: { command: 'a' },
    via: 'prompt',
  } as const
  const reply = (answer: Parameters<typeof answerClaude>[1]) =>
    JSON.parse(answerClaude(ask, answer).line).response.response
  expect(reply({ decision: 'allow' })).toEqual({ behavior: 'allow', updatedInput: { command: 'a' } })
  expect(
    reply({ decision: 'allow', updatedInput: { command: 'b' }, native: { updatedPermissions: [1] } }),
  ).toEqual({ behavior: 'allow', updatedInput: { command: 'b' }, updatedPermissions: [1] })
  expect(reply({ decision: 'deny', message: 'no', native: { interrupt: true, behavior: 'allow' } })).toEqual({
    behavior: 'deny',
    message: 'no',
    interrupt: true,
  })
})
