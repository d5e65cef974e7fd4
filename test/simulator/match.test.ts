import { describe, expect, it } from 'vitest'
import { chooseRule, contextWindowOf } from '../../src/simulator/match.ts'
import { messagesBodySchema } from '../../src/simulator/messages-body.ts'
import { readMessagesRequest } from '../../src/simulator/messages-request.ts'
import { defineScenario } from '../../src/simulator/scenario.ts'
import type { Rule, RuleInput } from '../../src/simulator/scenario-types.ts'
import { createFill, fillDeep } from '../../src/simulator/template.ts'
import { body } from './client.ts'

function request(user: Parameters<typeof body>[0], options: Parameters<typeof body>[1] = {}, headers = {}) {
  return readMessagesRequest(messagesBodySchema.parse(body(user, options)), headers)
}

function chosen(rules: RuleInput[], asked: ReturnType<typeof request>, fired = new Map<Rule, number>()) {
  return chooseRule(defineScenario({ rules }), asked, fired)
}

const afterTool = [
  { role: 'user', content: 'look around' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'exit 7' }] }],
  },
]

describe('the newest user text', () => {
  it("is the user's own, without the notes that Claude Code wraps around it", () => {
    const asked = request([
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nnot the user\n</system-reminder>\n' },
          { type: 'text', text: '<command-name>/compact</command-name>\n<command-args></command-args>' },
          { type: 'text', text: 'fix the bug <system-reminder>x</system-reminder>\n' },
        ],
      },
      { role: 'system', content: '# Environment' },
    ])
    expect(asked.userText).toBe('fix the bug')
    expect(asked.startsTurn).toBe(true)
  })

  it('is the text that started the turn once tool results come back', () => {
    const asked = request(afterTool)
    expect(asked.userText).toBe('look around')
    expect(asked.startsTurn).toBe(false)
    expect(asked.toolResults).toEqual([{ toolUseId: 't1', tool: 'Bash', text: 'exit 7', isError: false }])
  })

  it.each([
    'Your response above was cut off mid-stream. Resume directly from where it stops.',
    'This session is being continued from a previous conversation that ran out of context. The summary below…',
    '[structured-output-enforce] You MUST call the StructuredOutput tool',
    '[Request interrupted by user]',
  ])('is not this note of the CLI: %s', (note) => {
    const asked = request([
      { role: 'user', content: 'the prompt' },
      { role: 'assistant', content: 'half' },
      { role: 'user', content: note },
    ])
    expect(asked.userText).toBe('the prompt')
    expect(asked.startsTurn).toBe(true)
  })
})

describe('the first rule that matches is chosen', () => {
  it('by the text of the user', () => {
    const rules = [
      { name: 'a', when: 'alpha', reply: 'x' },
      { name: 'b', when: /BE(T)A/i, reply: 'x' },
      { name: 'c', reply: 'x' },
    ]
    expect(chosen(rules, request('say alpha beta'))?.rule.name).toBe('a')
    expect(chosen(rules, request('say beta'))).toMatchObject({
      rule: { name: 'b' },
      captures: { numbered: ['t'] },
    })
    expect(chosen(rules, request('gamma'))?.rule.name).toBe('c')
    expect(chosen(rules.slice(0, 2), request('gamma'))).toBeUndefined()
  })

  it('a rule on the user text does not fire again on tool results', () => {
    const rules = [
      { name: 'user', when: 'look', reply: 'x' },
      { name: 'result', when: { toolResult: /exit (\d)/ }, reply: 'x' },
    ]
    expect(chosen(rules, request('look around'))?.rule.name).toBe('user')
    expect(chosen(rules, request(afterTool))).toMatchObject({
      rule: { name: 'result' },
      captures: { numbered: ['7'] },
    })
  })

  it('a rule on results can also ask for the text that started the turn, and the tool', () => {
    const when = { user: 'look', tool: 'Bash' }
    expect(chosen([{ when, reply: 'x' }], request(afterTool))).toBeDefined()
    expect(chosen([{ when: { ...when, tool: 'Read' }, reply: 'x' }], request(afterTool))).toBeUndefined()
    expect(chosen([{ when: { ...when, user: 'other' }, reply: 'x' }], request(afterTool))).toBeUndefined()
  })

  it('by model, system prompt, session, and text that is or is not anywhere in the request', () => {
    const asked = request(
      'hi',
      { model: 'claude-haiku-5-5', system: 'be brief' },
      { 'x-claude-code-session-id': 's1' },
    )
    const fits = (when: RuleInput['when']) =>
      chosen([{ ...(when && { when }), reply: 'x' }], asked) !== undefined
    expect(fits({ model: 'haiku' })).toBe(true)
    expect(fits({ model: 'opus' })).toBe(false)
    expect(fits({ system: /brief$/ })).toBe(true)
    expect(fits({ session: 's1' })).toBe(true)
    expect(fits({ session: 's2' })).toBe(false)
    expect(fits({ contains: ['be brief', 'hi'] })).toBe(true)
    expect(fits({ contains: ['be brief', 'bye'] })).toBe(false)
    expect(fits({ lacks: 'bye' })).toBe(true)
    expect(fits({ lacks: 'brief' })).toBe(false)
  })

  it('by what an earlier tool result held, and its clipped copy does not', () => {
    const rules = [
      { name: 'read', when: { lacks: ['the end'] }, reply: [{ tool: 'Read', input: { file_path: 'f' } }] },
      { name: 'answer', reply: 'x' },
    ]
    const result = (text: string) => [
      { role: 'user', content: 'look' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'f' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: text }] },
    ]
    const later = [
      { role: 'assistant', content: 'I see' },
      { role: 'user', content: 'and now?' },
    ]
    expect(chosen(rules, request('look'))?.rule.name).toBe('read')
    expect(chosen(rules, request(result('the beginning, the middle, the end')))?.rule.name).toBe('answer')
    expect(
      chosen(rules, request([...result('the beginning, the middle, the end'), ...later]))?.rule.name,
    ).toBe('answer')
    expect(chosen(rules, request([...result('the beginning…'), ...later]))?.rule.name).toBe('read')
  })

  it('a rule that has fired `times` times is skipped', () => {
    const scenario = defineScenario({ rules: [{ times: 1, reply: 'first' }, { reply: 'then' }] })
    const [first] = scenario.rules
    expect(chooseRule(scenario, request('x'), new Map())?.rule.name).toBe('rule 1')
    expect(chooseRule(scenario, request('x'), new Map([[first!, 1]]))?.rule.name).toBe('rule 2')
  })
})

describe('requests that the CLI makes on the side', () => {
  const cli = { 'user-agent': 'claude-cli/2.1.325 (external, sdk-cli)' }
  const schemaOf = (...keys: string[]) => ({
    output_config: {
      format: { type: 'json_schema', schema: { properties: Object.fromEntries(keys.map((k) => [k, {}])) } },
    },
  })

  it('are distinguished from the agent’s own', () => {
    const compact =
      'CRITICAL: Respond with TEXT ONLY.\n\nYour task is to create a detailed summary of the conversation so far'
    expect(request('x').kind).toBe('main')
    expect(request('x', {}, { ...cli, 'anthropic-beta': 'a,claude-code-20250219' }).kind).toBe('main')
    expect(request('x', { tools: [{ name: 'Bash' }] }, cli).kind).toBe('main')
    expect(request('x', schemaOf('title'), cli).kind).toBe('title')
    expect(request('x', schemaOf('ok', 'reason'), cli).kind).toBe('side')
    expect(request('x', {}, cli).kind).toBe('side')
    expect(request('quota', { max_tokens: 1 }, cli).kind).toBe('probe')
    expect(request(compact, { tools: [{ name: 'Bash' }] }, cli).kind).toBe('compact')
  })

  it('are only answered by rules that ask for them', () => {
    const title = request('x', schemaOf('title'), cli)
    expect(chosen([{ reply: 'x' }], title)).toBeUndefined()
    expect(chosen([{ when: { kind: 'title' }, reply: 'x' }], title)).toBeDefined()
    expect(chosen([{ when: { kind: 'any' }, reply: 'x' }], title)).toBeDefined()
  })
})

describe('placeholders', () => {
  const fill = createFill(request(afterTool), { numbered: ['seven'], named: { code: '7' } }, 4)

  it('are filled from the request and the match, deeply', () => {
    expect(fill('${user}|${toolResult}|${model}|${n}|$1|${code}')).toBe(
      'look around|exit 7|claude-test|4|seven|7',
    )
    expect(fillDeep({ a: ['$1', 2, null], b: { c: '${user}' } }, fill)).toEqual({
      a: ['seven', 2, null],
      b: { c: 'look around' },
    })
  })

  it('leave shell variables and escapes alone', () => {
    expect(fill('echo $HOME ${HOME} $2 $$ ${constructor} $${user}')).toBe(
      'echo $HOME ${HOME} $2 $$ ${constructor} ${user}',
    )
  })
})

it('the context window of a model is the first that matches', () => {
  const scenario = defineScenario({
    models: { haiku: { contextWindow: 10 }, '/claude/': { contextWindow: 20 } },
    rules: [{ reply: 'x' }],
  })
  expect(contextWindowOf(scenario, 'claude-haiku')).toBe(10)
  expect(contextWindowOf(scenario, 'claude-opus')).toBe(20)
  expect(contextWindowOf(scenario, 'other')).toBeUndefined()
})
