/** The time of the policy check before a command may run ÷ the time of parsing the command. */
import { readFileSync } from 'node:fs'
import { forEachChild, parse, type SyntaxNode } from 'unbash'
import { DEFAULT_PROTECTED_PATHS } from '../../src/core/rules/default-paths.ts'
import { DEFAULT_BROKER_PROGRAMS, DEFAULT_NEVER, DEFAULT_TIERS } from '../../src/core/rules/defaults.ts'
import { checkText } from '../../src/core/shell/check-text.ts'
import { compileToolRules } from '../../src/core/shell/tool-rules.ts'
import { gatherFacts } from '../../src/engine/enforce/call-facts.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'

export const policy: Benchmark = {
  name: 'policy',
  about:
    'Check of one command against the rules of tier 2, without a sandbox ÷ parsing it alone (visiting every node, because the parser is lazy), over the corpus of disguised and innocent commands, and over commands that agents run every day.',
  run: async ({ short }) => {
    const lines = ['forbidden', 'innocent'].flatMap(readCorpus)
    const everyday = readEveryday()
    const rules = DEFAULT_TIERS[2]
    const policy = compileToolRules(
      { never: DEFAULT_NEVER, protectedPaths: DEFAULT_PROTECTED_PATHS },
      rules && { name: rules.name, tools: rules.tools, ...rules.commands },
      { home: '/home/dev', enforcement: 'advisory', brokered: DEFAULT_BROKER_PROGRAMS },
    )
    const { protectedPaths } = policy
    const facts = {
      ...gatherFacts({ home: '/home/dev', workDir: '/work', hiddenPaths: [], protectedPaths }),
      realPath: (path: string) => path,
      exists: () => false,
    }
    const slowest: number[] = []
    const parses = (line: string) => visit(parse(line))
    const checks = (line: string) => checkText(line, '/work', policy, facts)
    const { checked, parsed, checkedEveryday, parsedEveryday } = await interleave(
      {
        parsed: async () => median(lines, parses),
        checked: async () => median(lines, checks, slowest),
        parsedEveryday: async () => median(everyday, parses),
        checkedEveryday: async () => median(everyday, checks),
      },
      short ? 5 : 60,
    )
    return [
      figure('check ÷ parse', '×', ratios(checked, parsed)),
      figure('check ÷ parse, everyday commands', '×', ratios(checkedEveryday, parsedEveryday)),
      figure('check of one command, p99', 'ms', slowest.slice(1), { most: 5 }),
    ]
  },
}

function readCorpus(name: string): string[] {
  const text = readFileSync(new URL(`../../test/shell/corpus/${name}.txt`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .flatMap((line) => /^[-1-9] \| (.*) # [^#]*$/.exec(line)?.[1]?.replaceAll('\\n', '\n') ?? [])
}

/** One command per line; \n is a line break. */
function readEveryday(): string[] {
  const text = readFileSync(new URL('../everyday-commands.txt', import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll('\\n', '\n'))
}

function visit(node: SyntaxNode): void {
  forEachChild(node, visit)
}

/** The median over one pass through all lines; the 99th percentile is added to `slowest`. */
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
