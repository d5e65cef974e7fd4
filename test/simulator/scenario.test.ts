import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultScenario } from '../../src/simulator/default-scenario.ts'
import { defineScenario, loadScenario, parseScenario, ScenarioError } from '../../src/simulator/scenario.ts'

function errorOf(text: string): ScenarioError {
  try {
    parseScenario(text, 'demo.yaml')
  } catch (error) {
    if (error instanceof ScenarioError) return error
    throw error
  }
  throw new Error('expected a ScenarioError')
}

describe('a scenario file', () => {
  it('is read into rules with defaults filled in', () => {
    const scenario = parseScenario(`
name: tour
models:
  haiku: { contextWindow: 20000 }
cache: { minTokens: 10 }
rules:
  - when: hello
    reply: Hi
  - name: second
    when: { toolResult: /exit (\\d+)/i, tool: Bash, contains: [one, /two/] }
    times: 2
    reply:
      - thinking: hmm
      - text: done
        pace: 20ms
      - tool: Bash
        input: { command: ls }
      - wait: 1.5s
      - hold: gate
      - error: { status: 529 }
      - cut: true
      - overflow: { limit: 100 }
      - rateLimit: { resetsIn: 2m }
      - stop: max_tokens
`)
    expect(scenario.name).toBe('tour')
    expect(scenario.minCacheTokens).toBe(10)
    expect(scenario.contextWindows).toEqual([{ model: { kind: 'text', text: 'haiku' }, tokens: 20000 }])
    const [first, second] = scenario.rules
    expect(first).toMatchObject({
      name: 'rule 1',
      when: { kind: 'main', user: { kind: 'text', text: 'hello' } },
      times: Number.POSITIVE_INFINITY,
      reply: [{ do: 'text', text: 'Hi' }],
    })
    expect(second?.when.contains).toEqual([
      { kind: 'text', text: 'one' },
      { kind: 'regex', regex: /two/ },
    ])
    expect(second?.reply).toMatchObject([
      { do: 'thinking' },
      { do: 'text', paceMs: 20 },
      { do: 'tool', name: 'Bash', input: { command: 'ls' } },
      { do: 'wait', waitMs: 1500 },
      { do: 'hold', hold: 'gate' },
      { do: 'error', status: 529, type: 'overloaded_error', message: 'Overloaded' },
      { do: 'cut', times: Number.POSITIVE_INFINITY },
      { do: 'overflow', limit: 100 },
      { do: 'rate-limit', resetsInMs: 120_000, claim: 'five_hour' },
      { do: 'stop', reason: 'max_tokens' },
    ])
  })

  it('may be an object, with regular expressions as such', () => {
    const scenario = defineScenario({ rules: [{ when: /hi/gi, reply: 'hello' }] })
    expect(scenario.rules[0]?.when.user).toEqual({ kind: 'regex', regex: /hi/i })
  })

  it('is documented with examples that are valid', async () => {
    const guide = await readFile(join(import.meta.dirname, '../../docs/simulator.md'), 'utf8')
    const examples = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) expect(() => parseScenario(example, 'docs/simulator.md')).not.toThrow()
  })

  it('has a valid default', () => {
    expect(defaultScenario.rules.length).toBeGreaterThan(0)
  })
})

describe('a mistake in a scenario file is reported with file, line and what was expected', () => {
  it.each([
    [
      'an unknown key',
      'rules:\n  - when: hi\n    replay: Hi\n    reply: Hi\n',
      3,
      'unknown key "replay": did you mean "reply"?',
    ],
    [
      'an unknown condition',
      'rules:\n  - when:\n      usr: hi\n    reply: Hi\n',
      3,
      'unknown key "usr": did you mean "user"?',
    ],
    [
      'an unknown key at the top',
      'rulez: []\nrules:\n  - reply: x\n',
      1,
      'unknown key "rulez": did you mean "rules"?',
    ],
    [
      'a missing reply',
      'rules:\n  - when: hi\n',
      2,
      'rules[0].reply: missing: expected a text or a list of steps',
    ],
    ['an unknown step', 'rules:\n  - reply:\n      - txt: Hi\n', 3, 'Did you mean "text"?'],
    [
      'two steps in one',
      'rules:\n  - reply:\n      - text: Hi\n        tool: Bash\n',
      3,
      'expected one step, found 2',
    ],
    [
      'a bad duration',
      'rules:\n  - reply:\n      - text: a\n      - wait: soon\n',
      4,
      'expected a duration such as 500ms',
    ],
    ['a bad regex', 'rules:\n  - when: /(/\n    reply: Hi\n', 2, 'expected a valid /regex/'],
    [
      'a bad regex in a list',
      'rules:\n  - when:\n      lacks: [a, /(/]\n    reply: x\n',
      3,
      'rules[0].when.lacks[1]: expected a valid /regex/',
    ],
    [
      'something else than a text to lack',
      'rules:\n  - when:\n      lacks: 3\n    reply: x\n',
      3,
      'expected a text to find or a /regex/, found 3',
    ],
    [
      'a bad status',
      'rules:\n  - reply:\n      - error:\n          status: 200\n',
      4,
      'expected number to be >=400',
    ],
    [
      'an unknown key of an error',
      'rules:\n  - reply:\n      - error: { status: 500, retryafter: 1 }\n',
      3,
      'did you mean "retryAfter"?',
    ],
    ['broken YAML', 'rules:\n  - when: "hi\n', 3, 'expected valid YAML'],
    [
      'a duplicate key',
      'rules:\n  - reply: a\n    reply: b\n',
      3,
      'expected valid YAML: Map keys must be unique',
    ],
    ['no rules', 'name: x\n', 1, 'rules: missing: expected a list of rules'],
    ['an empty file', '', 1, 'rules: missing: expected a list of rules'],
    ['a list instead of a map', '- a\n', 1, 'expected object'],
    ['an unknown kind', 'rules:\n  - when: { kind: compaction }\n    reply: x\n', 2, 'expected one of'],
  ])('%s', (_, text, line, message) => {
    const error = errorOf(text)
    expect(error.message).toContain(message)
    expect(error.line).toBe(line)
    expect(error.message).toContain(`demo.yaml:${line}:`)
  })

  it('lists every problem', () => {
    const error = errorOf('rules:\n  - rply: x\n    reply: []\n  - when: 3\n    reply: y\n')
    expect(error.problems.map((problem) => problem.line)).toEqual(expect.arrayContaining([2, 3, 4]))
  })

  it('a file that cannot be read', async () => {
    await expect(loadScenario('/nowhere/demo.yaml')).rejects.toThrow(/^\/nowhere\/demo\.yaml: cannot be read/)
  })
})
