/** What a conversation stores about a turn whose agent died before it got the answer to its question. */
import { expect, it } from 'vitest'
import type { EventBody } from '../../src/contract/events.ts'
import { AttemptId, ConversationId, RunId, SessionId } from '../../src/contract/ids.ts'
import { readTurnEnding, type TurnEndingDeps } from '../../src/engine/conversations/ending.ts'
import type { RunRecord } from '../../src/store/runs/records.ts'

const T0 = new Date('2026-03-01T12:00:00Z')

it('stores the answer, without the secrets that an open question may contain', async () => {
  const id = RunId.create(T0)
  const attempt = {
    id: AttemptId.create(T0),
    number: 1,
    runId: id,
    kind: 'turn',
    sessionId: SessionId.create(T0),
  }
  const asked: EventBody = { type: 'tool-start', toolUseId: 't1', name: 'AskUserQuestion', input: {} }
  const hide = (text: string) => text.replaceAll('sk-live-1', '[redacted]')
  const parts = {
    store: {
      listAttempts: async () => [attempt],
      listEvents: async (_: RunId, { types }: { types: readonly string[] }) =>
        types.includes(asked.type) ? [{ seq: 1, body: asked, chars: 10 }] : [],
      listQuestions: async () => [
        {
          ask: { type: 'question-ask', toolUseId: 't1' },
          answer: { answers: { 'Use sk-live-1?': 'sk-live-1' } },
        },
      ],
    },
    redactor: { text: hide, json: hide },
    clock: { now: () => T0 },
  } as unknown as TurnEndingDeps
  const run = {
    id,
    agent: 'claude',
    outdatedAttempts: 0,
    links: { conversationId: ConversationId.create(T0), turn: 1 },
  }
  const ending = await readTurnEnding(parts, {
    run: run as RunRecord,
    settled: { name: 'completed', message: 'completed' },
    took: null,
    informed: true,
  })
  expect(ending.answer?.blocks).toEqual([
    { type: 'tool-use', toolUseId: 't1', name: 'AskUserQuestion', input: {} },
    { type: 'tool-result', toolUseId: 't1', isError: false, content: '"Use [redacted]?" = "[redacted]"' },
  ])
})
