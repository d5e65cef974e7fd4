/** Parsers for the values of options and arguments, shared by commands. Each throws what commander reports. */
import { InvalidArgumentError } from 'commander'
import { parseDurationMs } from '../../contract/quantity.ts'

export function duration(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new InvalidArgumentError('Expected a duration such as 90s, 30m or 2h.')
  return ms
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.')
  return Number(text)
}

export function priority(text: string): number {
  if (!/^-?\d{1,3}$/.test(text)) throw new InvalidArgumentError('Expected a whole number from -100 to 100.')
  return Number(text)
}

export function amount(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value > 0) || !Number.isFinite(value))
    throw new InvalidArgumentError('Expected an amount above 0, such as 2.50.')
  return value
}
