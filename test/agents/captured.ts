/** Output of the real CLI, by behaviour; see fixtures/capture.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseClaudeLine } from '../../src/agents/claude/parse.ts'
import type { EventBody, EventOf, EventType } from '../../src/contract/events.ts'
import type { SCENES } from './fixtures/capture.ts'

export type Behaviour = keyof typeof SCENES

export function capturedLines(behaviour: Behaviour): string[] {
  const text = readFileSync(join(import.meta.dirname, 'fixtures', `${behaviour}.jsonl`), 'utf8')
  return text.split('\n').filter((line) => line !== '')
}

export function capturedEvents(behaviour: Behaviour): EventBody[] {
  return capturedLines(behaviour).flatMap(parseClaudeLine)
}

export function only<T extends EventType>(events: readonly EventBody[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type)
}
