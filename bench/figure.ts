/** One measured figure: its name, its spread, and the goal it was measured for, if it has one. */
import { type Spread, spreadOf } from './measure.ts'

export interface Goal {
  most?: number
  least?: number
  /** A goal that the project set itself; the others are required. */
  own?: true
}

export interface Figure {
  name: string
  unit:
    | '×'
    | 'ms'
    | 'jobs/s'
    | 'MB'
    | 'KB'
    | 'lines/s'
    | 'rows/s'
    | 'tokens'
    | 'characters'
    | 'commands'
    | 'files'
    | 'calls'
  spread: Spread
  goal: Goal | null
}

export function figure(
  name: string,
  unit: Figure['unit'],
  samples: readonly number[],
  goal: Goal | null = null,
): Figure {
  return { name, unit, spread: spreadOf(samples), goal }
}

/** The median decides; the spread shows how reliable it is. */
export function isMet({ spread, goal }: Figure): boolean | null {
  if (!goal) return null
  return spread.median <= (goal.most ?? Number.POSITIVE_INFINITY) && spread.median >= (goal.least ?? 0)
}

export function describeGoal(goal: Goal | null): string {
  if (!goal) return ''
  const bound = goal.most !== undefined ? `≤ ${goal.most}` : `≥ ${goal.least}`
  return goal.own ? `${bound} (ours)` : bound
}

export function describeValue(value: number, unit: Figure['unit']): string {
  if (unit === '×') return value.toFixed(3)
  if (unit === 'MB') return value.toFixed(1)
  return Math.round(value).toLocaleString('en')
}

export function describeSpread({ spread, unit }: Figure): string {
  const show = (value: number) => describeValue(value, unit)
  return spread.n === 1 ? 'one sample' : `${show(spread.p10)} – ${show(spread.p90)}, n = ${spread.n}`
}
