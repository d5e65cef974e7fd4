/** Lines that the real CLI printed, of every kind that a turn has, from test/agents/fixtures. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const FIXTURES = resolve(import.meta.dirname, '../test/agents/fixtures')

function readFixtures(): string[] {
  const files = readdirSync(FIXTURES).filter((name) => name.endsWith('.jsonl'))
  return files
    .sort()
    .flatMap((name) => readFileSync(join(FIXTURES, name), 'utf8').split('\n').filter(Boolean))
}

const cycle = (lines: readonly string[], count: number) =>
  Array.from({ length: count }, (_, index) => lines[index % lines.length]!)

/** Lines of every kind, in a fixed order, repeated until there are `count`. */
export function capturedLines(count: number): string[] {
  return cycle(readFixtures(), count)
}

/** The output of one long turn without interruption: no questions, and one result, at its end. */
export function capturedTurn(count: number): string {
  const lines = readFixtures()
  const result = lines.find((line) => line.includes('"type":"result"') && line.includes('"is_error":false'))
  if (!result) throw new Error('no fixture has a result that is no error')
  return `${capturedMiddle(count)}${result}\n`
}

/** The same without the result. */
export function capturedMiddle(count: number): string {
  const middle = readFixtures().filter((line) => !/"type":"(result|control_\w+|rate_limit_event)"/.test(line))
  return `${cycle(middle, count).join('\n')}\n`
}
