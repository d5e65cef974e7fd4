/** The table of `reprise jobs`. */
import type { Job } from '../../contract/job.ts'
import { formatAge, formatCost, formatDuration } from '../terminal/amounts.ts'
import { firstLine } from '../terminal/terminal.ts'
import { jobStateOf } from './text.ts'

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
