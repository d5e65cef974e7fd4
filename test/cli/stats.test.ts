/** What `reprise stats` prints about texts that were not sent. */
import { expect, test } from 'vitest'
import { statsLines } from '../../src/cli/commands/stats.ts'
import { createEngineDouble } from '../server/engine-double.ts'

test.each([
  [400, 100, 'not sent    ~300 tokens of text (75 %)'],
  [0, 0, 'not sent    ~0 tokens of text (0 %)'],
  [340, 418, 'not sent    nothing'],
])('of %i tokens %i were sent', async (promptTokensOfTranscripts, promptTokensSent, line) => {
  const promptTokensSaved = promptTokensOfTranscripts - promptTokensSent
  const stats = await createEngineDouble().readStats()
  const lines = statsLines({ ...stats, promptTokensOfTranscripts, promptTokensSent, promptTokensSaved })
  expect(lines).toContain(line)
})
