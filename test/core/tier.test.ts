import { expect, it } from 'vitest'
import { type TierSettings, tierFor } from '../../src/core/escalation/tier.ts'

const settings: TierSettings = {
  number: 2,
  name: 'two',
  model: { claude: 'sonnet', codex: 'gpt-5', mine: 'opus' },
  tools: { claude: ['Bash'], codex: ['shell'] },
  deniedTools: undefined,
  contextWindow: { codex: 9000 },
  prompt: null,
  approval: false,
  budgetUsd: null,
  maxDurationMs: null,
  files: { write: [], hidden: [] },
  network: 'open',
}
const forAgent = (name: string, adapter: string, change: Partial<TierSettings> = {}) => {
  const { model, tools, contextWindow } = tierFor({ ...settings, ...change }, { name, adapter })
  return { model, tools, contextWindow }
}

it('is for each agent what is set under its name, or else under that of its adapter', () => {
  expect(forAgent('codex', 'codex')).toEqual({ model: 'gpt-5', tools: ['shell'], contextWindow: 9000 })
  expect(forAgent('mine', 'claude')).toEqual({ model: 'opus', tools: ['Bash'], contextWindow: null })
})

it('is the same for all where one value is set', () => {
  const all = { model: 'sonnet', tools: ['Read'], contextWindow: 4000 }
  expect(forAgent('codex', 'codex', all)).toEqual(all)
})

it('has no tools for an agent that is not named, and leaves the model to it', () => {
  expect(forAgent('gemini', 'gemini')).toEqual({ model: null, tools: [], contextWindow: null })
})
