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
    expect(tiers[1]).toMatchObject({ model: 'haiku' })
  })

  test('a fourth one needs a model and tools', () => {
    const { tiers } = load({ home: 'tiers: { 4: { model: opus, tools: [Bash, mcp__pager__call] } }' })
    expect(tiers[4]).toMatchObject({ tools: ['Bash', 'mcp__pager__call'] })
    expect(refusal({ home: 'tiers:\n  4: { tools: [Bash] }' })).toEqual([
      'config.yaml:2 tiers.4: needs a model; only the tiers 1, 2 and 3 have one by default',
    ])
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
      'config.yaml:5 tiers.1.commands.allow.0: the command pattern "docker ps | sh" cannot be understood: | means',
    ],
    ['tiers: { 1: { commands: { deny: ["docker \'x"] } } }', "the quote ' is not closed"],
    ['tiers: { 1: { commands: { deny: [""] } } }', 'it is empty'],
    ['tiers: { 1: { commands: { deny: ["* x"] } } }', 'must be written out'],
    ['tiers: { 1: { commands: { deny: ["--force"] } } }', 'is an option'],
    ['tiers: { 1: { commands: { deny: ["A=1 x"] } } }', 'sets a variable'],
    [
      'tiers:\n  2:\n    commands:\n      allow: ["helm upgrade *"]',
      'config.yaml:4 tiers.2.commands.allow: allows "helm upgrade *", and the same tier denies it',
    ],
    [
      'tiers: { 3: { commands: { allow: ["a \'b\' -x *"], deny: ["a -x b *"] } } }',
      'the same tier denies it',
    ],
    [
      'tiers: { 3: { commands: { allow: ["git push -f *"] } } }',
      'allows "git push -f *", and policy.never forbids it',
    ],
    ['tiers:\n  5: { model: x, tools: [Bash] }', 'config.yaml:2 tiers.5: there is no tier 4'],
    ['tiers: { 0: {} }', 'tiers.0: is not a fitting name; expected numbers of tiers from 1 to 9'],
    ['tiers: { two: {} }', 'expected numbers of tiers'],
    ['tiers:\n  2:\n    promptFile: prompts/none.md', 'config.yaml:3 tiers.2.promptFile: there is no file /'],
    ['tiers: { 2: { modle: x } }', 'unknown key; did you mean tiers.2.model?'],
    ['tiers: { 2: { budgetUsd: 0 } }', 'expected a number above 0; got 0'],
    ['policy: { never: ["a && b"] }', 'policy.never.0: the command pattern "a && b" cannot be understood'],
    ['policy: { protectedPaths: [""] }', 'policy.protectedPaths.0: expected a text that is not empty'],
  ])('refused: %s', (home, message) => {
    expect(refusal({ home })).toEqual([expect.stringContaining(message)])
  })
})

describe('a settings file in a directory that a stranger may have written', () => {
  test('cannot change tiers', () => {
    expect(refusal({ project: 'tiers: { 1: { commands: { allow: ["rm *"] } } }' })).toEqual([
      expect.stringContaining('reprise.yaml:1 tiers: cannot be set for a directory'),
    ])
  })

  test('adds to what is forbidden, and takes nothing away', () => {
    const { policy } = load({
      home: 'policy: { never: ["a *"], protectedPaths: [/a] }',
      project: 'policy: { never: ["b *"], protectedPaths: [] }',
    })
    expect(policy).toEqual({ never: ['a *', 'b *'], protectedPaths: ['/a'] })
  })
})
