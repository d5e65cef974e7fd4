/**
 * Checks that the settings of a watch are consistent with each other and with this installation. The configuration and
 * the API use the same check. Each setting by itself was validated before (`WatchDefinition`).
 */
import type { WatchDefinition } from '../../contract/watch.ts'
import { LONGEST_MS, MIN_EVERY_MS, parseSchedule } from '../schedule/schedule.ts'

/** The parts of the configuration that a watch can refer to. */
export interface WatchSurroundings {
  highestTier: number
  notifyTargets: readonly string[]
}

/** Shown as "key: problem; hint". */
export interface WatchProblem {
  key: keyof WatchDefinition
  problem: string
  hint?: string
}

/** Returns all problems, not only the first one. */
export function checkWatch(definition: WatchDefinition, around: WatchSurroundings): WatchProblem[] {
  return [
    ...scheduleProblems(definition),
    ...notHealthyProblems(definition),
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

function notHealthyProblems({ everyWhileNotHealthyMs, everyMs, cron }: WatchDefinition): WatchProblem[] {
  const refuse = (problem: string, hint: string): WatchProblem[] => [
    { key: 'everyWhileNotHealthyMs', problem, hint },
  ]
  if (everyWhileNotHealthyMs === undefined) return []
  if (everyMs === undefined && cron === undefined)
    return refuse('requires every or cron', 'remove it, or add one of them')
  if (everyWhileNotHealthyMs < MIN_EVERY_MS || everyWhileNotHealthyMs > LONGEST_MS)
    return refuse('is out of range', 'must be between 10s and 366d')
  if (everyMs !== undefined && everyWhileNotHealthyMs >= everyMs)
    return refuse('is too long', 'must be less than every')
  return []
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
      problem: 'requires memory: persistent',
      hint: 'with memory: fresh each cycle starts in a new session',
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
