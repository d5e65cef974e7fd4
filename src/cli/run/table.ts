/** The table of `reprise runs`. */
import type { Run } from '../../contract/run.ts'
import { formatAge, formatCost, formatDuration } from '../terminal/amounts.ts'
import { firstLine } from '../terminal/terminal.ts'

export function runRows(runs: readonly Run[], now: Date): { headings: string[]; rows: string[][] } {
  return {
    headings: ['ID', 'STATE', 'AGENT', 'TIER', 'AGE', 'TOOK', 'COST', 'PROMPT'],
    rows: runs.map((run) => [
      run.id,
      stateOf(run),
      run.agent,
      run.tier === null ? '–' : String(run.tier),
      formatAge(run.createdAt, now),
      formatDuration(run.durationMs ?? sinceStart(run, now)),
      formatCost(run.costUsd, run.costEstimated),
      firstLine(run.prompt, 200),
    ]),
  }
}

export function stateOf(run: Run): string {
  if (run.state === 'settled') return run.outcome ?? 'settled'
  if (run.paused) return 'paused'
  return run.pending.length > 0 ? 'asks you' : run.state
}

function sinceStart(run: Run, now: Date): number | null {
  return run.startedAt === null ? null : now.getTime() - Date.parse(run.startedAt)
}
