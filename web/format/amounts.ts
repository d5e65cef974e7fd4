/** Numbers for people, in the locale of the browser. */

const whole = new Intl.NumberFormat()
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 })
const dollars = (digits: number) =>
  new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
const cents = dollars(2)
const tenths = dollars(4)

export const formatCount = (n: number) => whole.format(n)
export const formatTokens = (n: number) => (n < 10_000 ? whole.format(Math.round(n)) : compact.format(n))
export const formatPercent = (share: number) => percent.format(share)

/** Costs below a cent keep their digits; nothing that costs something is shown as nothing. */
export function formatCost(usd: number | null, estimated = false): string {
  if (usd === null) return '–'
  const mark = estimated ? '≈ ' : ''
  if (usd === 0) return `${mark}${cents.format(0)}`
  if (Math.abs(usd) < 0.0001) return `< ${tenths.format(0.0001)}`
  return `${mark}${Math.abs(usd) < 0.01 ? tenths.format(usd) : cents.format(usd)}`
}

/** What was saved is an estimate: it has no more digits than it can answer for. */
export function formatSaved(usd: number): string {
  const amount = Math.abs(usd)
  if (amount < 0.00005) return cents.format(0)
  return `≈ ${amount < 0.01 ? tenths.format(amount) : cents.format(amount)}`
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let at = 0
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024
    at++
  }
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${units[at]}`
}

export const plural = (n: number, noun: string, nouns = `${noun}s`) =>
  `${whole.format(n)} ${n === 1 ? noun : nouns}`
