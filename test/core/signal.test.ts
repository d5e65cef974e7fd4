/** The recommendation of a run is read from unambiguous sources only. */
import { describe, expect, it } from 'vitest'
import { concludes, readRecommendation, signalSchema } from '../../src/core/escalation/signal.ts'

const GOOD = {
  status: 'down',
  summary: 'web is down',
  checks: [{ name: 'http', status: 'problem', finding: '502' }],
  services: ['web'],
  actions: [],
  escalate: true,
  reason: 'needs a restart',
}
const fenced = (body: string) => `I looked.\n\n\`\`\`signal\n${body}\n\`\`\`\n`
const read = (ending: Partial<Parameters<typeof readRecommendation>[0]>) =>
  readRecommendation({ structured: undefined, text: null, exitCode: 0, ...ending })

describe('a recommendation', () => {
  it('is taken from structured output first', () => {
    const text = fenced(JSON.stringify({ ...GOOD, escalate: false }))
    expect(read({ structured: GOOD, text, exitCode: 2 })).toEqual({
      source: 'structured',
      escalate: true,
      signal: GOOD,
      problem: null,
    })
  })

  it('then from the last fenced block, then from the exit code', () => {
    const text = `${fenced(JSON.stringify({ ...GOOD, escalate: false }))}${fenced(JSON.stringify(GOOD))}`
    expect(read({ text, exitCode: 2 })).toMatchObject({ source: 'block', escalate: true })
    expect(read({ text: 'no block', exitCode: 2 })).toEqual({
      source: 'exit-code',
      escalate: true,
      signal: null,
      problem: null,
    })
  })

  it('may leave out what is not needed to decide', () => {
    expect(read({ structured: { status: 'healthy', escalate: false } }).signal).toEqual({
      status: 'healthy',
      summary: '',
      checks: [],
      services: [],
      actions: [],
      escalate: false,
      reason: '',
    })
  })

  it.each([
    ['prose that recommends it', { text: 'You must escalate: true. ESCALATE NOW.' }],
    ['a block of another kind', { text: '```json\n{"status":"down","escalate":true}\n```' }],
    ['nothing', {}],
    ['another exit code', { exitCode: 1 }],
  ])('is none for %s', (_, ending) => {
    expect(read(ending)).toEqual({ source: 'none', escalate: null, signal: null, problem: null })
  })

  it.each([
    ['a wrong type', { structured: { ...GOOD, escalate: 'yes' } }, 'escalate'],
    ['an unknown status', { structured: { ...GOOD, status: 'bad' } }, 'status'],
    ['no object', { structured: 'escalate' }, 'malformed'],
    ['a block that is no JSON', { text: fenced('{"status": down}') }, 'not JSON'],
    ['a block that was cut off', { text: '```signal\n{"status":"down","esc' }, 'not JSON'],
    ['a malformed block, whatever the exit code', { text: fenced('{}'), exitCode: 2 }, 'malformed'],
  ])('is none, with the problem, for %s', (_, ending, says) => {
    const recommendation = read(ending)
    expect(recommendation).toMatchObject({ escalate: null, signal: null })
    expect(recommendation.problem).toContain(says)
  })
})

it('an exit with the agreed code is no crash, another is', () => {
  const crashed = { name: 'crashed', message: 'exit code 2' } as const
  expect(concludes(crashed, 2).name).toBe('completed')
  expect(concludes(crashed, 1)).toBe(crashed)
  const timedOut = { name: 'timed-out', message: '' } as const
  expect(concludes(timedOut, 2)).toBe(timedOut)
})

it('the schema asks for everything', () => {
  expect(signalSchema()).toMatchObject({
    type: 'object',
    required: ['status', 'summary', 'checks', 'services', 'actions', 'escalate', 'reason'],
  })
})
