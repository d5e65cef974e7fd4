/** `npm run check:names`: what it finds, what it leaves alone, and that it knows what the adapter and the rules name. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FLAGS, findNames, SHARED_FLAGS, TOOLS } from '../../scripts/agent-names.ts'
import { KNOWN_TOOLS } from '../../src/core/rules/defaults.ts'

const root = resolve(import.meta.dirname, '../..')
const wordsIn = (text: string) => findNames(text).map(({ word }) => word)

it('src/core and src/engine are clean', () => {
  execFileSync(process.execPath, [resolve(root, 'scripts/check-names.ts')], { encoding: 'utf8' })
})

describe('finds', () => {
  it.each([
    ["if (tool === 'Bash') return", 'Bash', 'tool'],
    ['new Set(["Read"])', 'Read', 'tool'],
    ['// as AskUserQuestion does', 'AskUserQuestion', 'tool'],
    ['args.push(`--resume=${id}`)', '--resume', 'flag'],
    ["hint: 'it needs --setting-sources.'", '--setting-sources', 'flag'],
    ["model: 'sonnet'", 'sonnet', 'model or vendor'],
    ["model: 'claude-opus-5'", 'claude', 'model or vendor'],
    ['if (apiStatus === 429) wait()', '429', 'status code'],
    ['apiStatus < 500', '500', 'status code'],
    ['outcome.apiStatus === 400', '400', 'status code'],
    ['input.file_path', 'file_path', 'field or command'],
    ["const COMPACT = '/compact'", '/compact', 'field or command'],
  ])('%s', (text, word, what) => {
    expect(findNames(`first line\n${text}`)).toContainEqual({ line: 2, word, what })
  })
})

it('leaves ordinary words, sizes and options of Reprise itself alone', () => {
  const text = `/** Read before anything else. Write the task again; an Agent of the API. */
    const LISTED_CHARS = 500
    const task: Task = { kind: 'write' }
    hint: 'Start it with --checkpoints or --session.'
    if (wait > 400) sleep()`
  expect(wordsIn(text)).toEqual([])
})

it('knows every tool and flag that the adapter and the rules of the tiers name', () => {
  const read = (file: string) => readFileSync(resolve(root, 'src/agents/claude', file), 'utf8')
  const named = [...`${read('describe-tool.ts')}${read('scheduling.ts')}`.matchAll(/'([A-Z]\w+)'/g)]
  const tools: readonly string[] = TOOLS
  for (const tool of [...named.map(([, tool]) => tool), ...KNOWN_TOOLS]) expect(tools).toContain(tool)
  const flags: readonly string[] = [...FLAGS, ...SHARED_FLAGS]
  for (const [, flag] of read('plan.ts').matchAll(/[`'](--[\w-]+)=/g)) expect(flags).toContain(flag)
})
