/** Lines per second through the adapter's parser ÷ through JSON.parse alone. */
import { parseClaudeLine } from '../../src/agents/claude/parse.ts'
import type { Benchmark } from '../benchmark.ts'
import { capturedLines } from '../captured.ts'
import { figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'

export const parser: Benchmark = {
  name: 'parser',
  about: 'Lines/s of the Claude parser ÷ lines/s of JSON.parse alone, on captured output of the real CLI.',
  run: async ({ short }) => {
    const lines = capturedLines(short ? 2000 : 20_000)
    const { parsed, decoded } = await interleave(
      {
        decoded: async () => linesPerSecond(lines, JSON.parse),
        parsed: async () => linesPerSecond(lines, parseClaudeLine),
      },
      short ? 5 : 60,
    )
    return [
      figure('parser ÷ JSON.parse', '×', ratios(parsed, decoded), { least: 0.7 }),
      figure('parser', 'lines/s', parsed),
      figure('JSON.parse', 'lines/s', decoded),
    ]
  },
}

/** Keeps the last result, so that the work cannot be optimised away. */
let sink: unknown

function linesPerSecond(lines: readonly string[], parse: (line: string) => unknown): number {
  const from = performance.now()
  for (const line of lines) sink = parse(line)
  const seconds = (performance.now() - from) / 1000
  if (sink === undefined) throw new Error('nothing was parsed')
  return lines.length / seconds
}
