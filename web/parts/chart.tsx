/** Bars in plain SVG. A few rectangles need no chart library; the numbers are in a table for those who cannot see them. */
import type { CostRow } from '../../src/contract/overview.ts'
import { formatCost } from '../format/amounts.ts'

export interface Bar {
  label: string
  /** From the bottom to the top. */
  parts: readonly { name: string; value: number; colour: string }[]
  title: string
}

const HEIGHT = 100
/** A few bars do not become as wide as the page. */
const MIN_SLOTS = 7

/** `tick` says which labels are shown. */
export function Bars({
  bars,
  height,
  tick,
  caption,
  format,
  full,
  scale = false,
  numbers = false,
}: {
  bars: readonly Bar[]
  height: number
  /** The value of a bar that fills the height; default: the largest. */
  full?: number
  tick: (index: number) => boolean
  caption: string
  format: (value: number) => string
  /** The value of the highest bar is written beside it. */
  scale?: boolean
  /** The numbers can be unfolded; otherwise only screen readers have them. */
  numbers?: boolean
}) {
  const totals = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + Math.max(0, value), 0))
  const max = Math.max(...(full === undefined ? totals : [full]), 1e-9)
  const slot = 100 / Math.max(bars.length, MIN_SLOTS)
  return (
    <figure className="relative">
      {scale && (
        <span aria-hidden="true" className="absolute -top-5 right-0 text-label text-muted">
          {format(max)}
        </span>
      )}
      <svg
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className="block w-full"
        style={{ height }}
        role="img"
        aria-label={caption}
      >
        {bars.map(({ label, parts, title }, index) => {
          let y = HEIGHT
          return (
            <g key={label}>
              <title>{title}</title>
              <rect x={index * slot} y={0} width={slot} height={HEIGHT} fill="transparent" />
              {parts.map(({ name, value, colour }) => {
                const tall = value <= 0 ? 0 : Math.max(1, (value / max) * (HEIGHT - 2))
                y -= tall
                return (
                  <rect
                    key={name}
                    x={index * slot + slot * 0.12}
                    y={y}
                    width={slot * 0.76}
                    height={tall}
                    className={colour}
                  />
                )
              })}
            </g>
          )
        })}
        <line
          x1={0}
          x2={100}
          y1={HEIGHT}
          y2={HEIGHT}
          className="stroke-line"
          strokeWidth={1}
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <div className="relative h-4 text-label text-muted" aria-hidden="true">
        {bars.map(({ label }, index) =>
          tick(index) ? (
            <span
              key={label}
              className="absolute -translate-x-1/2 whitespace-nowrap"
              style={{ left: `${(index + 0.5) * slot}%` }}
            >
              {label}
            </span>
          ) : null,
        )}
      </div>
      {numbers ? (
        <details className="mt-2">
          <summary className="text-label text-muted">Numbers</summary>
          <div className="max-h-72 overflow-auto">
            <Numbers bars={bars} caption={caption} format={format} className="mt-1 w-full text-small" />
          </div>
        </details>
      ) : (
        <Numbers bars={bars} caption={caption} format={format} className="sr-only" />
      )}
    </figure>
  )
}

function Numbers({
  bars,
  caption,
  format,
  className,
}: {
  bars: readonly Bar[]
  caption: string
  format: (value: number) => string
  className: string
}) {
  const names = bars[0]?.parts.map(({ name }) => name) ?? []
  return (
    <table className={className}>
      <caption className="sr-only">{caption}</caption>
      <thead>
        <tr className="text-right text-label text-muted">
          <td />
          {names.map((name) => (
            <th key={name} scope="col" className="font-normal">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map(({ label, parts }) => (
          <tr key={label} className="text-right">
            <th scope="row" className="text-left font-normal">
              {label}
            </th>
            {parts.map(({ name, value }) => (
              <td key={name}>{format(value)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The cost of today by hour. */
export function HourBars({ rows }: { rows: readonly CostRow[] }) {
  const byHour = Array.from({ length: 24 }, () => ({ cost: 0, runs: 0, failed: 0 }))
  for (const row of rows) {
    const hour = byHour[new Date(row.at).getHours()]
    if (!hour) continue
    hour.cost += row.costUsd
    hour.runs += row.runs
    hour.failed += row.failed
  }
  const bars = byHour.map(({ cost, runs, failed }, hour) => ({
    label: `${String(hour).padStart(2, '0')}:00`,
    title: `${String(hour).padStart(2, '0')}:00  ${formatCost(cost)}, ${runs} runs${failed > 0 ? `, ${failed} failed` : ''}`,
    parts: [{ name: 'cost', value: cost, colour: 'fill-accent' }],
  }))
  return (
    <Bars
      bars={bars}
      height={44}
      tick={(hour) => hour % 6 === 0 && hour > 0}
      caption="Cost by hour"
      format={formatCost}
    />
  )
}
