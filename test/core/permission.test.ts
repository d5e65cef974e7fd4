import { describe, expect, it } from 'vitest'
import { PERMISSION_MODES } from '../../src/contract/create-run.ts'
import type { EventOf } from '../../src/contract/events.ts'
import { decideAsk } from '../../src/core/permission/decide.ts'

const permission = (via: 'prompt' | 'hook'): EventOf<'permission-ask'> => ({
  type: 'permission-ask',
  requestId: 'q1',
  toolUseId: 't1',
  tool: 'Bash',
  input: { command: 'rm -rf /' },
  via,
})

const question: EventOf<'question-ask'> = {
  type: 'question-ask',
  requestId: 'q2',
  toolUseId: 't2',
  questions: [{ question: 'Which?', options: [{ label: 'A' }] }],
}

describe('a tool call', () => {
  it.each(['prompt', 'hook'] as const)('asked about by %s is allowed by policy in one mode only', (via) => {
    const allowed = PERMISSION_MODES.filter((mode) => decideAsk(mode, permission(via)).kind === 'allow')
    expect(allowed).toEqual(['allow'])
    expect(decideAsk('allow', permission(via))).toEqual({ kind: 'allow', reason: 'permissions: allow' })
  })
})

it.each(PERMISSION_MODES)('a question to the user waits for a person, in mode %s', (mode) => {
  expect(decideAsk(mode, question)).toEqual({ kind: 'wait' })
})
