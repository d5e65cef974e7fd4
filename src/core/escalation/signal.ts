/**
 * Reads the recommendation of a run at a tier from unambiguous sources only: structured output, then a fenced block
 * marked `signal`, then the exit code. The first source that is present decides; if it is malformed, the run
 * recommends nothing. Prose is never interpreted.
 */
import { z } from 'zod'
import { type Recommendation, Signal } from '../../contract/escalation.ts'
import type { Outcome } from '../../contract/outcome.ts'

/** With this exit code an agent without structured output recommends escalation. */
export const ESCALATE_EXIT_CODE = 2

export interface Ending {
  structured: unknown
  text: string | null
  exitCode: number | null
}

export function readRecommendation({ structured, text, exitCode }: Ending): Recommendation {
  if (structured !== undefined && structured !== null) return validated('structured', structured)
  const block = lastBlock(text ?? '')
  if (block !== null) return parsed(block)
  if (exitCode === ESCALATE_EXIT_CODE)
    return { source: 'exit-code', escalate: true, signal: null, problem: null }
  return nothing('none', null)
}

/** An exit with the escalation code is not a crash. */
export function concludes(outcome: Outcome, exitCode: number | null): Outcome {
  return exitCode === ESCALATE_EXIT_CODE && outcome.name === 'crashed'
    ? { name: 'completed', message: `ended with exit code ${ESCALATE_EXIT_CODE}: recommends escalation` }
    : outcome
}

function parsed(block: string): Recommendation {
  try {
    return validated('block', JSON.parse(block))
  } catch (error) {
    return nothing('block', `its signal is not JSON: ${(error as Error).message}`)
  }
}

function validated(source: 'structured' | 'block', value: unknown): Recommendation {
  const result = Signal.safeParse(value)
  if (!result.success) return nothing(source, `its signal is malformed: ${complaint(result.error)}`)
  return { source, escalate: result.data.escalate, signal: result.data, problem: null }
}

const nothing = (source: Recommendation['source'], problem: string | null): Recommendation => ({
  source,
  escalate: null,
  signal: null,
  problem,
})

function complaint({ issues }: z.ZodError): string {
  const [first] = issues
  return first ? `${first.path.join('.') || 'it'}: ${first.message}` : 'it is not of the expected form'
}

/** The last block counts, because an agent may print the format as an example first. */
function lastBlock(text: string): string | null {
  const lines = text.split('\n')
  const ends: string[] = []
  let open: string[] | null = null
  for (const line of lines) {
    if (open === null && /^\s*```\s*signal\s*$/.test(line)) open = []
    else if (open !== null && /^\s*```\s*$/.test(line)) {
      ends.push(open.join('\n'))
      open = null
    } else open?.push(line)
  }
  // A block that is not closed was cut off; it is returned so that its parse error is reported.
  return open !== null ? open.join('\n') : (ends.at(-1) ?? null)
}

/** The schema for agents with structured output. It requires all fields; the parser accepts fewer. */
export function signalSchema(): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(Signal, { io: 'output' })
  return schema
}
