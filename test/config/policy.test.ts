import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import type { ConfigProblem } from '../../src/config/problem.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import { temporaryDirs } from './temporary-dirs.ts'

function load(files: { home?: string; project?: string }) {
  return loadConfig({ ...temporaryDirs(files), env: {} }).config
}

function refusal(files: { home?: string; project?: string }): string[] {
  try {
    load(files)
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error
    const { problems } = error.details as { problems: ConfigProblem[] }
    return problems.map(
      ({ source, line, key, message }) => `${source.split('/').at(-1)}:${line} ${key}: ${message}`,
    )
  }
  throw new Error('the configuration was accepted')
}

describe('tiers', () => {
  test('each key overrides the default, the others stay', () => {
    const { tiers } = load({
      home: 'tiers:\n  2: { model: opus, commands: { allow: ["docker restart *"] }, approval: true, budgetUsd: 5 }',
    })
    expect(tiers[2]).toMatchObject({
      name: 'safe-remediation',
      model: 'opus',
      approval: true,
      budgetUsd: 5,
      commands: { allow: ['docker restart *'], deny: expect.arrayContaining(['docker compose down *']) },
    })
    expect(tiers[1]).toMatchObject({ model: { claude: 'haiku' } })
  })

  test('a fourth one needs a model and tools', () => {
    const { tiers } = load({ home: 'tiers: { 4: { model: opus, tools: [Bash, mcp__pager__call] } }' })
    expect(tiers[4]).toMatchObject({ tools: ['Bash', 'mcp__pager__call'] })
    expect(refusal({ home: 'tiers:\n  4: { tools: [Bash] }' })).toEqual([
      'config.yaml:2 tiers.4: needs model; only the tiers 1, 2 and 3 have a default',
    ])
  })

  test('models and tools by agent are added to the defaults; one value for all agents replaces them', () => {
    const agents = 'agents: { mine: { adapter: claude } }\n'
    const { tiers } = load({
      home: `${agents}tiers: { 1: { model: { mine: opus }, contextWindow: { mine: 5000 } }, 2: { tools: { mine: [Bash] } } }`,
    })
    expect(tiers[1]).toMatchObject({
      model: { claude: 'haiku', mine: 'opus' },
      contextWindow: { mine: 5000 },
    })
    expect(tiers[2]).toMatchObject({ tools: { claude: expect.arrayContaining(['Edit']), mine: ['Bash'] } })
    expect(load({ home: 'tiers: { 1: { tools: [Read] } }' }).tiers[1]).toMatchObject({ tools: ['Read'] })
  })

  test('a prompt file is found beside the file that names it', () => {
    const dirs = temporaryDirs({ home: 'tiers: { 2: { promptFile: prompts/two.md } }' })
    mkdirSync(join(dirs.home, 'prompts'))
    writeFileSync(join(dirs.home, 'prompts', 'two.md'), 'You are tier 2.')
    const { config } = loadConfig({ ...dirs, env: {} })
    expect(config.tiers[2]?.promptFile).toBe(join(dirs.home, 'prompts', 'two.md'))
  })

  test.each([
    [
      'tiers:\n  2: { tools: [Bash, Raed] }',
      'config.yaml:2 tiers.2.tools.1: unknown tool "Raed"; did you mean Read?',
    ],
    [
      'tiers:\n  2: { tools: [Frobnicate] }',
      'config.yaml:2 tiers.2.tools.0: unknown tool "Frobnicate"; known: Bash,',
    ],
    [
      'tiers:\n  1:\n    commands:\n      allow:\n        - docker ps | sh',
      'config.yaml:5 tiers.1.commands.allow.0: the command pattern "docker ps | sh" is invalid: | means',
    ],
    ['tiers: { 1: { commands: { deny: ["docker \'x"] } } }', "the quote ' is not closed"],
    ['tiers: { 1: { commands: { deny: [""] } } }', 'it is empty'],
    ['tiers: { 1: { commands: { deny: ["* x"] } } }', 'must be written out'],
    ['tiers: { 1: { commands: { deny: ["--force"] } } }', 'is an option'],
    ['tiers: { 1: { commands: { deny: ["A=1 x"] } } }', 'sets a variable'],
    [
      'tiers:\n  2:\n    commands:\n      allow: ["helm upgrade *"]',
      'config.yaml:4 tiers.2.commands.allow: allows "helm upgrade *", but the same tier denies it',
    ],
    [
      'tiers: { 3: { commands: { allow: ["a \'b\' -x *"], deny: ["a -x b *"] } } }',
      'the same tier denies it',
    ],
    [
      'tiers: { 3: { commands: { allow: ["git push -f *"] } } }',
      'allows "git push -f *", but policy.never forbids it',
    ],
    ['tiers:\n  5: { model: x, tools: [Bash] }', 'config.yaml:2 tiers.5: there is no tier 4'],
    ['tiers: { 0: {} }', 'tiers.0: unknown key; did you mean tiers.1?'],
    ['tiers: { two: {} }', 'tiers.two: unknown key; known here: 1, 2, 3, 4, 5, 6, 7, 8, 9, enforcement'],
    ['tiers:\n  2:\n    promptFile: prompts/none.md', 'config.yaml:3 tiers.2.promptFile: there is no file /'],
    ['tiers: { 2: { modle: x } }', 'unknown key; did you mean tiers.2.model?'],
    [
      'tiers:\n  2:\n    model: { claud: opus }',
      'config.yaml:3 tiers.2.model.claud: there is no agent "claud"; did you mean claude?',
    ],
    [
      'tiers:\n  2:\n    tools: { somebody: [Bash] }',
      'config.yaml:3 tiers.2.tools.somebody: there is no agent "somebody"; known: claude',
    ],
    [
      'tiers:\n  2:\n    tools: { claude: [Bash, Raed] }',
      'config.yaml:3 tiers.2.tools.claude.1: unknown tool "Raed"; did you mean Read?',
    ],
    [
      'tiers:\n  2:\n    model: { claude: 5 }',
      'config.yaml:3 tiers.2.model.claude: expected a text that is not empty; got 5',
    ],
    [
      'tiers:\n  2:\n    model: 5',
      'config.yaml:3 tiers.2.model: expected a text that is not empty, or a mapping from the names of agents to such values; got 5',
    ],
    [
      'tiers:\n  2: { tools: { claude: [Bash] }, deniedTools: [Bash] }',
      'tiers.2.deniedTools: denies Bash, which tools of the same tier contains',
    ],
    ['tiers: { 2: { budgetUsd: 0 } }', 'expected a number above 0; got 0'],
    ['policy: { never: ["a && b"] }', 'policy.never.0: the command pattern "a && b" is invalid'],
    ['policy: { protectedPaths: [""] }', 'policy.protectedPaths.0: expected a text that is not empty'],
  ])('refused: %s', (home, message) => {
    expect(refusal({ home })).toEqual([expect.stringContaining(message)])
  })
})

describe('cooldowns', () => {
  test('each key overrides the default, the others stay', () => {
    const { cooldowns } = load({ home: 'cooldowns: { restart: { limit: 5 } }' })
    expect(cooldowns.restart).toMatchObject({
      match: expect.arrayContaining(['docker restart {service}']),
      limit: 5,
      per: 14_400_000,
    })
    expect(cooldowns.redeploy).toMatchObject({ limit: 1, per: 86_400_000 })
  })

  test('one of your own', () => {
    const { cooldowns } = load({
      home: 'cooldowns: { failover: { match: ["patronictl failover {service}"], limit: 0, per: 30d } }',
    })
    expect(cooldowns.failover).toEqual({
      match: ['patronictl failover {service}'],
      limit: 0,
      per: 30 * 86_400_000,
    })
    expect(Object.keys(cooldowns)).toEqual(['restart', 'redeploy', 'failover'])
  })

  test.each([
    [
      'cooldowns:\n  restart:\n    match:\n      - docker restart',
      'config.yaml:4 cooldowns.restart.match.0: the command pattern "docker restart" is invalid: it does not say where the service is named; put {service} there',
    ],
    [
      'cooldowns: { restart: { match: ["a {service} {service}"] } }',
      'cooldowns.restart.match.0: the command pattern "a {service} {service}" is invalid: it has {service} more than once',
    ],
    ['cooldowns: { restart: { match: ["a {unit}"] } }', '{unit} means nothing; only {service} does'],
    ['cooldowns: { restart: { match: ["a {service} | sh"] } }', '| means something to a shell'],
    ['cooldowns: { restart: { limit: -1 } }', 'expected a whole number from 0 to 1000; got -1'],
    ['cooldowns: { restart: { limit: 1001 } }', 'expected a whole number from 0 to 1000; got 1001'],
    ['cooldowns: { restart: { limit: 1.5 } }', 'expected a whole number from 0 to 1000; got 1.5'],
    ['cooldowns: { restart: { per: 0s } }', 'expected a duration with a unit, such as'],
    ['cooldowns: { restart: { per: soon } }', 'expected a duration with a unit, such as'],
    ['cooldowns: { restart: { pre: 4h } }', 'unknown key; did you mean cooldowns.restart.per?'],
    [
      'cooldowns:\n  mine: { match: ["a {service}"], limit: 1 }',
      'config.yaml:2 cooldowns.mine: needs per; only restart and redeploy have a default',
    ],
    ['cooldowns: { Mine: {} }', 'is not a valid name; expected names (lower-case letters, digits, -)'],
  ])('refused: %s', (home, message) => {
    expect(refusal({ home })).toEqual([expect.stringContaining(message)])
  })
})

describe('tools that are denied', () => {
  test('are taken from those a tier has by default', () => {
    const { tiers } = load({ home: 'tiers: { 2: { deniedTools: [Write, mcp__pager] } }' })
    expect(tiers[2]).toMatchObject({
      deniedTools: ['Write', 'mcp__pager'],
      tools: { claude: expect.arrayContaining(['Write']) },
    })
  })

  test.each([
    [
      'tiers:\n  2: { tools: [Bash, Write],\n    deniedTools: [Write] }',
      'config.yaml:3 tiers.2.deniedTools: denies Write, which tools of the same tier contains: remove one of the two',
    ],
    ['tiers: { 2: { tools: [Agent], deniedTools: [Task] } }', 'denies Agent, which tools'],
    [
      'tiers: { 2: { tools: [mcp__pager__call], deniedTools: [mcp__pager] } }',
      'denies mcp__pager__call, which tools',
    ],
    ['tiers: { 2: { deniedTools: [Wriet] } }', 'unknown tool "Wriet"; did you mean Write?'],
  ])('refused: %s', (home, message) => {
    expect(refusal({ home })).toEqual([expect.stringContaining(message)])
  })

  test('a part of what a tier has may be denied', () => {
    load({ home: 'tiers: { 2: { tools: [mcp__pager], deniedTools: [mcp__pager__call] } }' })
  })
})
