/** Jobs as rows of a table. */
import type { Job } from '../contract/job.ts'
import { formatAge, formatCost, formatDuration } from './amounts.ts'
import { jobStateOf } from './job-text.ts'
import { firstLine } from './terminal.ts'

export function jobRows(jobs: readonly Job[], now: Date): { headings: string[]; rows: string[][] } {
  return {
    headings: ['ID', 'STATE', 'AGENT', 'AGE', 'TOOK', 'COST', 'PROMPT'],
    rows: jobs.map((job) => [
      job.id,
      jobStateOf(job),
      job.agent,
      formatAge(job.createdAt, now),
      formatDuration(job.progress.elapsedMs),
      formatCost(job.progress.costUsd, job.costEstimated),
      firstLine(job.prompt, 200),
    ]),
  }
}
