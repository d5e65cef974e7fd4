/** The cause of an agent's silence: a request that the model does not answer, or the agent itself. */
import { expect, it } from 'vitest'
import type { EventBody } from '../../src/contract/events.ts'
import { NO_USAGE } from '../../src/contract/outcome.ts'
import {
  answerTimeoutMs,
  blameModel,
  followRequest,
  isUnanswered,
  NO_REQUEST,
} from '../../src/core/obstacle/open-request.ts'

const request: EventBody = { type: 'model-request' }
const answer: EventBody = { type: 'model-call', messageId: 'm', usage: NO_USAGE }
const tool = (toolUseId: string): EventBody => ({ type: 'tool-start', toolUseId, name: 'Bash', input: {} })
const toolEnd = (toolUseId: string): EventBody => ({
  type: 'tool-end',
  toolUseId,
  isError: false,
  content: '',
})
const retry: EventBody = { type: 'retry-wait', number: 1 }
const over: EventBody = { type: 'turn-end', outcome: { name: 'completed', message: '' } }

const after = (...events: EventBody[]) => events.reduce(followRequest, NO_REQUEST)

it.each<[string, EventBody[], boolean]>([
  ['nothing was asked', [], false],
  ['a request was made', [request], true],
  ['it is made again after an error', [request, retry], true],
  ['the answer has begun', [request, answer], false],
  ['a tool runs', [request, answer, tool('a')], false],
  ['the tool has ended, and its result is not sent yet', [request, answer, tool('a'), toolEnd('a')], false],
  ['its result was sent', [request, answer, tool('a'), toolEnd('a'), request], true],
  ['one of two tools still runs', [request, answer, tool('a'), tool('b'), toolEnd('a'), request], false],
  ['the turn is over', [request, over], false],
  ['a tool was cut off by the end of its turn, and another turn asks', [tool('a'), over, request], true],
])('%s', (_, events, expected) => {
  expect(isUnanswered(after(...events))).toBe(expected)
})

it('blames the model for silence only, and only if a request is unanswered', () => {
  expect(blameModel('silent', after(request), 600_000)).toEqual({
    cause: 'outage',
    message: 'the model has not answered a request for 10m',
  })
  expect(blameModel('timed-out', after(request), 600_000)).toBeNull()
  expect(blameModel('silent', after(request, answer, tool('a')), 600_000)).toBeNull()
})

it('lets a run that probes an obstacle wait two minutes at most', () => {
  expect(answerTimeoutMs(600_000, false)).toBe(600_000)
  expect(answerTimeoutMs(600_000, true)).toBe(120_000)
  expect(answerTimeoutMs(5000, true)).toBe(5000)
})
