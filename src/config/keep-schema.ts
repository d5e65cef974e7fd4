/** The settings of how long things are kept. */
import { z } from 'zod'
import { retention } from './setting.ts'

export const keep = z
  .strictObject({
    runs: retention(
      'Ended runs with their attempts, and ended jobs, cycles and follow-ups. What a conversation, a session in use or a job that can be continued refers to stays. Totals stay.',
    ).prefault('90d'),
    events: retention(
      'What agents printed, as events of ended runs. How the attempts began and ended stays with the run.',
    ).prefault('30d'),
    transcripts: retention(
      "Copies of the agents' session files, counted from the last use of the session. 0ms: none are made.",
    ).prefault('90d'),
    sessions: retention(
      'Sessions that are not used any more and that nothing refers to, counted from their last use.',
    ).prefault('180d'),
    output: retention('The raw output of ended attempts; their events stay.').prefault('7d'),
    checkpoints: retention('The checkpoints of ended jobs.').prefault('30d'),
    audit: retention('The record of who did what through the API.').prefault('365d'),
  })
  .describe('How long things are kept after their end or last use: a duration, or `forever`.')

/** Settings that have moved here. */
export const MOVED: ReadonlyMap<string, string> = new Map([
  ['run.keepOutput', 'keep.output'],
  ['jobs.keepCheckpoints', 'keep.checkpoints'],
  ['jobs.keepTranscripts', 'keep.transcripts'],
])
