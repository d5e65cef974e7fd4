/** What a session knows after an attempt: if it did not complete, only the content of its transcript. */
import { expect, it } from 'vitest'
import { type AttemptTrace, knownAfter } from '../../src/core/continue/known.ts'

const trace = (more: Partial<AttemptTrace>): AttemptTrace => ({
  completed: false,
  accepted: true,
  modelCalled: true,
  recorded: { question: false, message: false },
  ...more,
})
const NOTHING = { question: false, past: false, standing: false }
const ALL = { question: true, past: true, standing: true }

it.each([
  ['accepted and even begun, but not recorded', trace({}), NOTHING],
  [
    'recorded, although nobody was told that it was accepted',
    trace({ accepted: false, modelCalled: false, recorded: { question: true, message: true } }),
    ALL,
  ],
  [
    'the question recorded by an attempt before, the message of this one not',
    trace({ recorded: { question: true, message: false } }),
    { question: true, past: true, standing: false },
  ],
  ['completed', trace({ completed: true }), ALL],
  [
    'completed by a command without the model',
    trace({ completed: true, modelCalled: false }),
    { question: true, past: false, standing: false },
  ],
  ['completed without the prompt', trace({ completed: true, accepted: false }), NOTHING],
])('%s', (_, attempt, known) => {
  expect(knownAfter(attempt)).toEqual(known)
})
