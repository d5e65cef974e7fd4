/** What Claude Code's own scheduling tools ask for. The inputs are those of the tools' schemas in 2.1. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readClaudeScheduling, SCHEDULING_TOOLS } from '../../src/agents/claude/scheduling.ts'
import { checkProperty } from '../core/random.ts'

describe('CronCreate', () => {
  const read = (input: unknown) => readClaudeScheduling('CronCreate', input)

  it('asks for a follow-up that recurs, unless it says otherwise', () => {
    const input = { cron: '*/5 * * * *', prompt: 'check the deploy' }
    const call = { kind: 'create', prompt: 'check the deploy', reason: null }
    expect(read(input)).toEqual({ ...call, when: { cron: '*/5 * * * *', recurring: true } })
    expect(read({ ...input, recurring: true })).toMatchObject({ when: { recurring: true } })
    expect(read({ ...input, recurring: false, durable: true })).toEqual({
      ...call,
      when: { cron: '*/5 * * * *', recurring: false },
    })
  })

  it('without an expression or a prompt is unclear, with what is missing', () => {
    expect(read({ prompt: 'x' })).toEqual({ kind: 'unclear', problem: 'cron: expected five fields' })
    expect(read({ cron: 5, prompt: 'x' })).toMatchObject({ kind: 'unclear' })
    for (const prompt of [undefined, '', ' \n', 7]) {
      expect(read({ cron: '* * * * *', prompt })).toEqual({
        kind: 'unclear',
        problem: 'prompt: expected a text that is not empty',
      })
    }
  })
})

describe('ScheduleWakeup', () => {
  const read = (input: unknown) => readClaudeScheduling('ScheduleWakeup', input)

  it('asks for one after that many seconds, with its reason', () => {
    expect(read({ delaySeconds: 270, reason: 'let it start', prompt: 'verify it' })).toEqual({
      kind: 'create',
      prompt: 'verify it',
      reason: 'let it start',
      when: { inMs: 270_000 },
    })
    expect(read({ delaySeconds: 0.0004, prompt: 'x', reason: '' })).toMatchObject({
      reason: null,
      when: { inMs: 0 },
    })
  })

  it('with a delay that is not a number is unclear', () => {
    for (const delaySeconds of [undefined, '60', Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(read({ delaySeconds, prompt: 'x' })).toEqual({
        kind: 'unclear',
        problem: 'delaySeconds: expected a number of seconds',
      })
    }
  })
})

it('CronDelete names one, CronList none', () => {
  expect(readClaudeScheduling('CronDelete', { id: ' fup_1 ' })).toEqual({ kind: 'delete', id: 'fup_1' })
  expect(readClaudeScheduling('CronDelete', {})).toMatchObject({ kind: 'unclear' })
  expect(readClaudeScheduling('CronList', {})).toEqual({ kind: 'list' })
  expect(readClaudeScheduling('CronList', null)).toEqual({ kind: 'list' })
})

it('any other tool is not a scheduling tool', () => {
  for (const tool of ['Bash', 'cronlist', 'CronCreate2', 'mcp__x__CronCreate', '']) {
    expect(readClaudeScheduling(tool, { cron: '* * * * *', prompt: 'x' })).toBeNull()
  }
})

it('any input is either understood or unclear, and nothing throws', () => {
  checkProperty(
    fc.property(fc.constantFrom(...SCHEDULING_TOOLS), fc.anything(), (tool, input) => {
      const call = readClaudeScheduling(tool, input)
      expect(call).not.toBeNull()
      if (call?.kind === 'create') expect(call.prompt.trim()).not.toBe('')
    }),
  )
})
