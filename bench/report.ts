/** Formats figures as text for a terminal, and as the page that is kept. */
import type { Benchmark } from './benchmark.ts'
import { describeGoal, describeSpread, describeValue, type Figure, isMet } from './figure.ts'

export interface Measured {
  benchmark: Benchmark
  figures: readonly Figure[]
}

const verdict = (figure: Figure) => ({ true: 'met', false: 'missed', null: '' })[`${isMet(figure)}`]
const value = ({ spread, unit }: Figure) =>
  `${describeValue(spread.median, unit)}${unit === '×' ? '' : ` ${unit}`}`

/** Short runs are not meaningful, so their text does not mention goals. */
export function toText({ benchmark, figures }: Measured, short: boolean): string {
  const width = Math.max(...figures.map(({ name }) => name.length))
  const lines = figures.map((figure) => {
    const goal = figure.goal && !short ? `  goal ${describeGoal(figure.goal)}: ${verdict(figure)}` : ''
    return `  ${figure.name.padEnd(width)}  ${value(figure).padStart(14)}  (${describeSpread(figure)})${goal}`
  })
  return `${benchmark.name}: ${benchmark.about}\n${lines.join('\n')}\n`
}

export function toMarkdown(measured: readonly Measured[], machine: readonly string[], at: Date): string {
  const sections = measured.map(({ benchmark, figures }) =>
    [
      `## ${benchmark.name}`,
      '',
      benchmark.about,
      '',
      '| figure | median | p10 – p90 | goal | |',
      '|---|---:|---|---|---|',
      ...figures.map(
        (figure) =>
          `| ${figure.name} | ${value(figure)} | ${describeSpread(figure)} | ${describeGoal(figure.goal)} | ${verdict(figure)} |`,
      ),
      '',
    ].join('\n'),
  )
  return [
    '# Measured',
    '',
    'Written by `npm run bench -- --write`. Ratios are computed pair by pair, with both sides interleaved (A B B A) in one run; the median decides, the spread is from the tenth to the ninetieth percentile. Absolute figures apply to this machine only.',
    '',
    `${at.toISOString().slice(0, 10)}: ${machine.join(' · ')}`,
    '',
    sections.join('\n'),
  ].join('\n')
}
