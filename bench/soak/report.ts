/** The result of a soak, as a part of bench/RESULTS.md. */
import type { RoundReport } from './check.ts'
import type { Faults } from './faults.ts'
import type { Kills } from './killer.ts'
import type { Kind } from './kinds.ts'

export type SoakRound = Omit<RoundReport, 'violations'> & { kills: Kills; faults: Faults }

export interface SoakReport {
  seed: number
  mixed: boolean
  kinds: readonly Kind[]
  /** Those that were played to their end. */
  rounds: SoakRound[]
  violations: string[]
  minutes: number
  /** It was ended before it had reached its goal. */
  interrupted: boolean
}

const sum = (counts: object): number =>
  Object.values(counts).reduce((total: number, count) => total + Number(count), 0)

export const countDisruptions = ({ kills, faults, modelFaults }: SoakRound): number =>
  sum(kills) + sum(faults) + modelFaults

export const countAll = ({ rounds }: SoakReport): number =>
  rounds.reduce((total, round) => total + countDisruptions(round), 0)

export function summarize(report: SoakReport): string {
  const { seed, mixed, rounds, violations, minutes, interrupted } = report
  const total = (read: (round: SoakRound) => number) => rounds.reduce((all, round) => all + read(round), 0)
  const totals = (read: (round: SoakRound) => object) => {
    const all: Record<string, number> = {}
    for (const round of rounds)
      for (const [name, count] of Object.entries(read(round))) all[name] = (all[name] ?? 0) + Number(count)
    return Object.entries(all)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  }
  const count = (name: keyof SoakRound & string) => total((round) => Number(round[name]))
  const rows = [
    ['disruptions', `${countAll(report)} in ${rounds.length} rounds, ${minutes.toFixed(0)} minutes`],
    ['killed', totals(({ kills }) => kills)],
    ['other faults', `${totals(({ faults }) => faults)}, model ${count('modelFaults')}`],
    [
      'work',
      `${count('runs')} runs (${count('turns')} turns, ${count('keptTurns')} of them in kept processes; ${count('chains')} chains, ${count('followUps')} follow-ups), ${count('jobs')} jobs, ${count('messages')} messages`,
    ],
    ['attempts', `${count('attempts')}: ${totals(({ attemptOutcomes }) => attemptOutcomes)}`],
    ['model requests', String(count('modelRequests'))],
    ['runs ended as', totals(({ outcomes }) => outcomes)],
    ['violations', describeViolations(report)],
  ]
  return [
    `### Soak${mixed ? ', mixed' : ''}, seed ${seed}${interrupted ? ' (ended before its goal)' : ''}`,
    '',
    '| | |',
    '|---|---|',
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    ...(violations.length === 0 ? [] : ['', ...violations.map((violation) => `- ${violation}`)]),
  ].join('\n')
}

function describeViolations({ rounds, violations }: SoakReport): string {
  if (violations.length > 0) return String(violations.length)
  return rounds.length === 0 ? 'no round was finished' : '0: nothing lost, doubled or orphaned'
}
