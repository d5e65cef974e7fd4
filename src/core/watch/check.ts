/**
 * Whether what a watch is to be fits together, and fits this installation. The configuration and the API ask alike, so
 * that both refuse the same things. Each key for itself was checked before (`WatchDefinition`).
 */
import type { WatchDefinition } from '../../contract/watch.ts'
import { parseSchedule } from '../schedule/schedule.ts'

/** What is there to be used. */
export interface WatchSurroundings {
  highestTier: number
  notifyTargets: readonly string[]
}

/** Reads "key: problem; hint". */
export interface WatchProblem {
  key: keyof WatchDefinition
  problem: string
  hint?: string
}

/** Everything that is wrong, not only the first thing. */
export function checkWatch(definition: WatchDefinition, around: WatchSurroundings): WatchProblem[] {
  return [
    ...scheduleProblems(definition),
    ...tierProblems(definition, around),
    ...memoryProblems(definition),
    ...notifyProblems(definition, around),
  ]
}

function scheduleProblems(definition: WatchDefinition): WatchProblem[] {
  const parsed = parseSchedule(definition)
  if (parsed.ok) return []
  const { ok, ...problem } = parsed
  return [problem]
}

function tierProblems({ maxTier }: WatchDefinition, { highestTier }: WatchSurroundings): WatchProblem[] {
  if (maxTier === undefined || maxTier <= highestTier) return []
  return [{ key: 'maxTier', problem: `there is no tier ${maxTier}`, hint: `the highest is ${highestTier}` }]
}

function memoryProblems(definition: WatchDefinition): WatchProblem[] {
  if (definition.memory === 'persistent') return []
  return (['renewAfterMs', 'renewAfterCycles'] as const)
    .filter((key) => definition[key] !== undefined)
    .map((key) => ({
      key,
      problem: 'has a meaning only with memory: persistent',
      hint: 'a fresh memory begins anew each time',
    }))
}

function notifyProblems(
  { notify = [] }: WatchDefinition,
  { notifyTargets }: WatchSurroundings,
): WatchProblem[] {
  const known = notifyTargets.length > 0 ? `there are ${notifyTargets.join(', ')}` : 'there are none'
  return notify
    .filter((name) => !notifyTargets.includes(name))
    .map((name) => ({
      key: 'notify',
      problem: `${JSON.stringify(name)} is not one of the targets under notify`,
      hint: known,
    }))
}
