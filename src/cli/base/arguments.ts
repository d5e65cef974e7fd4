/** Parsers for the values of options and arguments. Each throws an error that completes `--option value: …`. */
import { InvalidArgumentError } from 'commander'
import { parseDurationMs } from '../../contract/quantity.ts'

export function duration(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new InvalidArgumentError('expected a duration such as 90s, 30m or 2h')
  return ms
}

/** The bounds are durations too, such as `10s` and `366d`. */
export function durationBetween(min: string, max: string): (text: string) => number {
  const [least, most] = [duration(min), duration(max)]
  return (text) => {
    const ms = duration(text)
    if (ms < least || ms > most) throw new InvalidArgumentError(`must be between ${min} and ${max}`)
    return ms
  }
}

export function wholeNumber(text: string): number {
  return between(0, Number.MAX_SAFE_INTEGER)(text)
}

export function between(min: number, max: number): (text: string) => number {
  return (text) => {
    if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number')
    const value = Number(text)
    if (value < 0 && min === 0) throw new InvalidArgumentError('expected a whole number')
    if (value < min || value > max) {
      throw new InvalidArgumentError(`must be between ${min} and ${max}`)
    }
    return value
  }
}

export const priority = between(-100, 100)
export const tierNumber = between(1, 9)

const MAX_USD = 1_000_000

/** An amount of money in US dollars. */
export function amount(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value > 0 && value <= MAX_USD))
    throw new InvalidArgumentError(`must be an amount above 0 and up to ${MAX_USD}, such as 2.50`)
  return value
}
