/** What the policy costs before a command may run ÷ what parsing it costs. */
import { readFileSync } from 'node:fs'
import { forEachChild, parse, type SyntaxNode } from 'unbash'
import { checkCommand } from '../../src/core/policy/check.ts'
import { DEFAULT_NEVER, DEFAULT_PROTECTED_PATHS, DEFAULT_TIERS } from '../../src/core/policy/defaults.ts'
import { compilePolicy } from '../../src/core/policy/policy.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'

export const policy: Benchmark = {
  name: 'policy',
  about:
    'Check of one command against the rules of tier 2 ÷ parsing it alone (every node visited, for the parser is lazy), over the corpus of disguised and innocent commands.',
  run: async ({ short }) => {
    const lines = ['forbidden', 'innocent'].flatMap(readCommands)
    const rules = DEFAULT_TIERS[2]
    const policy = compilePolicy(
      { never: DEFAULT_NEVER, protectedPaths: DEFAULT_PROTECTED_PATHS },
      rules && { name: rules.name, tools: rules.tools, ...rules.commands },
      '/home/dev',
    )
    const where = { cwd: '/work', home: '/home/dev', realpath: (path: string) => path, exists: () => false }
    const slowest: number[] = []
    const { checked, parsed } = await interleave(
      {
        parsed: async () => median(lines, (line) => visit(parse(line))),
        checked: async () => median(lines, (line) => checkCommand(line, policy, where), slowest),
      },
      short ? 5 : 60,
    )
    return [
      figure('check ÷ parse', '×', ratios(checked, parsed), { most: 1.5 }),
      figure('check of one command, p99', 'ms', slowest.slice(1), { most: 2 }),
    ]
  },
}

function readCommands(name: string): string[] {
  const text = readFileSync(new URL(`../../test/policy/corpus/${name}.txt`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .flatMap((line) => /^[-1-9] \| (.*) # [^#]*$/.exec(line)?.[1]?.replaceAll('\\n', '\n') ?? [])
}

function visit(node: SyntaxNode): void {
  forEachChild(node, visit)
}

/** Of one turn over all lines; the 99th percentile goes to `slowest`. */
function median(lines: readonly string[], work: (line: string) => unknown, slowest?: number[]): number {
  const times = lines
    .map((line) => {
      const from = performance.now()
      work(line)
      return performance.now() - from
    })
    .sort((a, b) => a - b)
  slowest?.push(times[Math.floor(times.length * 0.99)] ?? Number.NaN)
  return times[times.length >> 1] ?? Number.NaN
}
