/**
 * Converts a scenario's text, file or TypeScript object to a validated `Scenario`. Mistakes become one `ScenarioError`
 * which lists every problem with file, line and column.
 */
import { readFile } from 'node:fs/promises'
import type { Document } from 'yaml'
import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { nearestWord } from './nearest.ts'
import { knownKeysAt, scenarioSchema } from './scenario-schema.ts'
import type { Scenario, ScenarioInput } from './scenario-types.ts'

export interface ScenarioProblem {
  /** 1-based; undefined for scenarios that were not written as text. */
  line?: number
  column?: number
  /** The place in the scenario, such as `rules[0].when`. */
  where: string
  message: string
}

export class ScenarioError extends Error {
  override name = 'ScenarioError'
  readonly code = 'scenario-invalid'
  readonly file: string
  readonly problems: ScenarioProblem[]
  constructor(file: string, problems: ScenarioProblem[]) {
    super(problems.map((problem) => describe(file, problem)).join('\n'))
    this.file = file
    this.problems = problems
  }
  get line(): number | undefined {
    return this.problems[0]?.line
  }
}

function describe(file: string, { line, column, where, message }: ScenarioProblem): string {
  const position = line === undefined ? file : `${file}:${line}:${column}`
  return where ? `${position}: ${where}: ${message}` : `${position}: ${message}`
}

export async function loadScenario(path: string): Promise<Scenario> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new ScenarioError(path, [{ where: '', message: `cannot be read: ${(error as Error).message}` }])
  }
  return parseScenario(text, path)
}

export function parseScenario(text: string, fileName = 'scenario.yaml'): Scenario {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  if (document.errors.length > 0) {
    throw new ScenarioError(
      fileName,
      document.errors.map((error) => ({
        ...at(error.pos[0]),
        where: '',
        message: `expected valid YAML: ${error.message.split(/ at line \d+/)[0]}`,
      })),
    )
  }
  return check(document.toJS(), fileName, (path, key) => at(offsetOf(document, path, key)))
}

/** Validates a scenario that was written as an object. */
export function defineScenario(scenario: ScenarioInput, name = scenario.name ?? 'scenario'): Scenario {
  return check(scenario, name, () => ({}))
}

type Locate = (path: readonly PropertyKey[], key?: string) => { line?: number; column?: number }

function check(value: unknown, file: string, locate: Locate): Scenario {
  const parsed = scenarioSchema.safeParse(value ?? {})
  if (parsed.success) return parsed.data
  throw new ScenarioError(
    file,
    parsed.error.issues.flatMap((issue) => problemsOf(issue, value, locate)),
  )
}

function problemsOf(issue: z.core.$ZodIssue, value: unknown, locate: Locate): ScenarioProblem[] {
  const where = showPath(issue.path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const known = knownKeysAt(issue.path)
      const near = nearestWord(key, known)
      const hint = near ? `did you mean "${near}"?` : `expected one of ${known.join(', ')}`
      return { ...locate(issue.path, key), where, message: `unknown key "${key}": ${hint}` }
    })
  }
  const missing = issue.code === 'invalid_type' && valueAt(value, issue.path) === undefined
  const generic = issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')
  const expected = generic ? `expected ${issue.expected}` : lowerFirst(issue.message)
  return [{ ...locate(issue.path), where, message: missing ? `missing: ${expected}` : expected }]
}

/** The offset of the innermost existing node on the path, or of the key itself if one is named. */
function offsetOf(document: Document, path: readonly PropertyKey[], key?: string): number {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (!isNode(node)) continue
    if (key !== undefined && length === path.length && isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
      if (isScalar(pair?.key)) return pair.key.range?.[0] ?? 0
    }
    return node.range?.[0] ?? 0
  }
  return 0
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) => (inner as Record<PropertyKey, unknown> | undefined)?.[part],
    value,
  )
}

function showPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
