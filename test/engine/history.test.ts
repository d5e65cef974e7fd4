/** What is known about earlier attempts from their events. */
import { expect, it } from 'vitest'
import type { EventBody } from '../../src/contract/events.ts'
import { AttemptId, JobId, RunId } from '../../src/contract/ids.ts'
import type { Step } from '../../src/core/prompt/interruption.ts'
import { readEarlierAttempts } from '../../src/engine/path/history.ts'
import type { RunRecord, StoredEvent } from '../../src/store/runs/records.ts'
import type { Store } from '../../src/store/store.ts'

const T0 = new Date('2026-03-01T12:00:00Z')
const delta = (text: string): EventBody => ({ type: 'text-delta', text })
const text = (whole: string): EventBody => ({ type: 'text-end', text: whole })
const start = (change: object = {}): EventBody => ({
  type: 'attempt-start',
  number: 1,
  agentSessionId: 'x',
  resumed: false,
  carry: 'none',
  ...change,
})
const crashed: EventBody = {
  type: 'attempt-end',
  number: 1,
  outcome: { name: 'crashed', message: 'it is gone' },
} as EventBody
const turnEnd = {
  type: 'turn-end',
  outcome: { name: 'turn-limit', message: 'enough' },
} as EventBody
const tool: EventBody = { type: 'tool-start', toolUseId: 't1', name: 'Bash', input: {} }
const otherTool: EventBody = { ...tool, toolUseId: 't2', name: 'Read' }
const PROMPT_ID = 'the prompt of the run'
const taken = (messageId = PROMPT_ID): EventBody => ({ type: 'prompt-accept', messageId })

interface ListQuery {
  types: readonly string[]
  attemptId?: string
  afterSeq?: number
  limit?: number
}

/** A job whose runs had one attempt each, with these events. */
async function read(...runs: EventBody[][]) {
  const jobId = JobId.create(T0)
  const records = runs.map((events) => {
    const id = RunId.create(T0)
    const attemptId = AttemptId.create(T0)
    const stored = events.map(
      (body, index): StoredEvent => ({ runId: id, seq: index + 1, attemptId, at: T0, body, chars: 10 }),
    )
    return {
      id,
      attemptCount: events.length > 0 ? 1 : 0,
      outdatedAttempts: 0,
      promptId: PROMPT_ID,
      links: { jobId },
      stored,
    }
  })
  const store = {
    listQuestions: async () => [],
    listEvents: async (id: RunId, { types, attemptId, afterSeq = 0, limit = 100 }: ListQuery) =>
      (records.find((run) => run.id === id)?.stored ?? [])
        .filter(
          ({ body, seq, ...of }) =>
            seq > afterSeq && types.includes(body.type) && (!attemptId || of.attemptId === attemptId),
        )
        .slice(0, limit),
  }
  const sameTask = records as unknown as RunRecord[]
  return readEarlierAttempts(store as unknown as Store, sameTask.at(-1)!, sameTask)
}

const textsIn = (steps: readonly Step[]) =>
  steps.flatMap((step) => ('text' in step ? [step.text] : [])).join('\n') || null

it.each<[string, EventBody[][], string | null]>([
  ['pieces', [[start(), delta('one '), delta('two'), crashed]], 'one two'],
  ['a whole text and pieces', [[start(), delta('on'), text('one'), delta('two'), crashed]], 'one\ntwo'],
  ['not what came before a tool', [[start(), text('I run it'), tool, crashed]], null],
  ['not what ended with its turn', [[start(), delta('all'), text('all done'), turnEnd, crashed]], null],
  [
    'not what a sub-agent says',
    [[start(), delta('one '), { ...text('sub'), parentToolUseId: 't0' } as EventBody, crashed]],
    'one ',
  ],
  ['of an earlier run, once', [[start(), delta('al'), text('all'), delta('mo'), crashed], []], 'all\nmo'],
  [
    'of all in a row that came to no end',
    [
      [start(), delta('done'), text('done'), tool, crashed],
      [start(), delta('first'), crashed],
      [start(), crashed],
      [start(), delta('second'), crashed],
    ],
    'first\nsecond',
  ],
  ['not what compacting printed', [[start({ makesRoom: true }), text('Compacted'), crashed]], null],
])('the unfinished text: %s', async (_, runs, saying) => {
  const { steps } = await read(...runs)
  const last = steps.findLastIndex((step) => 'tool' in step)
  expect(textsIn(steps.slice(last + 1))).toBe(saying)
})

it('all texts since the prompt was accepted', async () => {
  const { stepsSincePrompt } = await read(
    [start(), text('before'), crashed],
    [start(), taken(), text('one'), crashed],
    [start(), taken(), delta('two'), crashed],
    [start(), text('three'), tool, crashed],
  )
  expect(textsIn(stepsSincePrompt)).toBe('one\ntwo\nthree')
})

it('the output of a compaction does not count as work', async () => {
  expect(await read([start({ makesRoom: true }), text('Compacted'), crashed])).toMatchObject({
    saidSomething: false,
    steps: [],
  })
})

it.each<[string, EventBody[][], string[]]>([
  [
    'all, of an agent that does not say when it takes a prompt',
    [[start(), tool, otherTool, crashed]],
    ['Bash', 'Read'],
  ],
  [
    'not what was called for an earlier prompt',
    [[start(), taken('a'), tool, taken(), otherTool, crashed]],
    ['Read'],
  ],
  [
    'also in the attempt before the last',
    [
      [start(), taken(), tool, crashed],
      [start(), taken(), otherTool, crashed],
    ],
    ['Bash', 'Read'],
  ],
])('tools that were called since the prompt was accepted: %s', async (_, runs, names) => {
  const { stepsSincePrompt } = await read(...runs)
  expect(stepsSincePrompt.flatMap((step) => ('tool' in step ? [step.tool.name] : []))).toEqual(names)
})

it('steps are in order over all attempts, without the texts of turns that ended', async () => {
  const { steps } = await read(
    [start(), text('ended'), turnEnd, text('one'), tool, crashed],
    [start(), text('two'), otherTool, delta('three'), crashed],
  )
  expect(steps.map((step) => ('text' in step ? step.text : step.tool.name))).toEqual([
    'one',
    'Bash',
    'two',
    'Read',
    'three',
  ])
})
