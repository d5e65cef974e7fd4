import { describe, expect, test } from 'vitest'
import { MOST_WORK, spend, withinBudget } from '../../src/core/policy/budget.ts'
import { DEFAULT_COOLDOWNS, DEFAULT_NEVER, DEFAULT_TIERS } from '../../src/core/policy/defaults.ts'
import { compilePolicy } from '../../src/core/policy/policy.ts'
import { checkStart } from '../../src/core/policy/program-start.ts'
import { checkTool } from '../../src/core/policy/tools.ts'

/** Texts that stand for far more than they are long, or that something reads again and again. */
const times = (text: string, count: number) => text.repeat(count)
const HOSTILE: Record<string, string> = {
  'a value that doubles': `a=x; ${times('a=$a$a; ', 27)}${times('cat $a;', 60)}`,
  'a value that is appended to itself': `a=xxxxxxxxxx; ${times('a+=$a; ', 25)}${times('cat $a;', 60)}`,
  'a value that doubles in a function': `f(){ a=$a$a; }; a=x; ${times('f;', 27)}cat $a`,
  'an array that doubles': `a=(x); ${times('a=(${a[@]} ${a[@]}); ', 22)}cat \${a[@]}`,
  'arguments that double': `set -- x; ${times('set -- "$@" "$@"; ', 22)}cat "$@"`,
  'output that doubles': `a=x;${times('a=$(echo $a$a);', 27)}cat $a`,
  'a format that doubles': `a=x;${times('a=$(printf "%s%s" $a $a);', 27)}cat $a`,
  'a pattern with many stars': `a=${times('a', 1999)}; b=\${a##*a*a*a*a*a*a*a*b}; cat $b`,
  'braces that are never closed': `echo ${times('{', 90_000)}`,
  'braces in braces': `echo ${times('{a,', 20_000)}${times('}', 20_000)}`,
  'parentheses in parentheses': `${times('(', 40_000)}ls${times(')', 40_000)}`,
  'sums in sums': `echo ${times('$((', 10_000)}1${times('))', 10_000)}`,
  'many variables': Array.from({ length: 8000 }, (_, at) => `a${at}=x;`).join(''),
  'many programs started by one': `find . ${times('-exec cat {} \\; ', 5000)}`,
  'one word that is read as a script': `sed ${times('../', 30_000)}`,
  'words that are taken for paths': `ssh ${times('rm ', 1300)}`,
}

const policy = compilePolicy(
  { never: DEFAULT_NEVER, protectedPaths: ['/kept/**'], cooldowns: DEFAULT_COOLDOWNS },
  { name: '3 (full)', tools: DEFAULT_TIERS['3']?.tools ?? [], ...DEFAULT_TIERS['3']?.commands },
  '/home/u',
)
const surroundings = { home: '/home/u', realpath: (path: string) => path, exists: () => false }

describe('a command that would take too much to check', () => {
  test.each(Object.entries(HOSTILE))('%s is refused soon, with a reason', (_, command) => {
    const before = process.memoryUsage().heapUsed
    const decided = checkTool({ tool: 'Bash', input: { command }, cwd: '/w' }, policy, surroundings)
    expect(decided).toMatchObject({ decision: 'deny', rule: 'unreadable' })
    expect(decided.reason).toMatch(/cannot be read as a whole \(.+\)|could not be checked \(.+\)/)
    expect(decided.reason.length).toBeLessThan(400)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(400 << 20)
  })

  test('also where a program is really started', () => {
    const [text = ''] = Object.values(HOSTILE)
    expect(checkStart(['bash', '-c', text], policy, { ...surroundings, cwd: '/w' })).toMatchObject({
      decision: 'deny',
      rule: 'unreadable',
    })
  })

  test('is judged by counted work, the same each time', () => {
    const used = (count: number) => withinBudget(() => spend(count))
    expect(() => used(MOST_WORK)).not.toThrow()
    expect(() => used(MOST_WORK + 1)).toThrow('too large to be checked')
    // Each check has a budget of its own.
    expect(() => used(MOST_WORK)).not.toThrow()
    expect(() => used(Number.NaN)).toThrow('too large to be checked')
  })

  test('a long but plain command is not refused', () => {
    const command = `cat > /tmp/notes <<'END'\n${times('{"service": "jellyfin", "state": [1, 2, 3]}\n', 2000)}END`
    expect(checkTool({ tool: 'Bash', input: { command }, cwd: '/w' }, policy, surroundings)).toMatchObject({
      decision: 'allow',
    })
  })
})
