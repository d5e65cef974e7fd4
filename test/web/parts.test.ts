/** The parts of the page that compute something. */
import { expect, test, vi } from 'vitest'
import type { EventBody, RunEvent } from '../../src/contract/events.ts'
import type { Watch } from '../../src/contract/watch.ts'
import { formatCost, formatSaved } from '../../web/format/amounts.ts'
import { formatSpan } from '../../web/format/time.ts'
import { typedLimit } from '../../web/format/typed.ts'
import { standingOfJob, wordOfJob } from '../../web/format/words.ts'
import { steadyRows } from '../../web/parts/steady-rows.ts'
import { compare, countEdits, editsOf } from '../../web/transcript/edits.ts'
import { splitMarkdown } from '../../web/transcript/split-markdown.ts'
import { changeOf, creationOf, draftOf, durationText } from '../../web/watch/draft.ts'
import { Steps } from '../../web/watch/steps.ts'
import { standingOfCycle, wordOfCycle } from '../../web/watch/words.ts'

test('rows keep their order; new ones above are held, new ones below are shown, gone ones go', () => {
  const steady = (rows: string, before: string) => {
    const { shown, held } = steadyRows([...rows], [...before], (row) => row)
    return `${shown.join('')}+${held}`
  }
  expect(steady('abc', 'abc')).toBe('abc+0')
  expect(steady('xabc', 'abc')).toBe('abc+1')
  expect(steady('abcde', 'abc')).toBe('abcde+0')
  expect(steady('xbcd', 'abc')).toBe('bcd+1')
  expect(steady('cba', 'abc')).toBe('abc+0')
  expect(steady('xy', 'abc')).toBe('xy+0')
})

test('what waits for a person says so: a job with a question, a cycle without a follow-up', () => {
  const job = { state: 'running', attention: 'question' } as const
  expect([standingOfJob(job), wordOfJob(job)]).toEqual(['ask', 'asks you'])
  expect(wordOfJob({ state: 'running', attention: null })).toBe('at work')
  const cycle = { state: 'waiting', outcome: null, status: null, pendingFollowUps: 0 } as const
  expect([standingOfCycle(cycle), wordOfCycle(cycle)]).toEqual(['ask', 'asks you'])
  const later = { ...cycle, pendingFollowUps: 1 }
  expect([standingOfCycle(later), wordOfCycle(later)]).toEqual(['wait', 'waiting'])
})

test('a limit is typed with a comma or a point, and is never left out by mistake', () => {
  expect(['5', ' 5,50', '0.5'].map((typed) => typedLimit('Budget', typed))).toEqual([5, 5.5, 0.5])
  for (const typed of ['', ' ', '0', '-1', '5 €', '1,000.50', 'Infinity'])
    expect(() => typedLimit('Budget', typed), typed).toThrow(/^Budget: /)
})

test('whole seconds have no fraction', () => {
  expect([0, 20, 3000, 3400, 59_000].map(formatSpan)).toEqual(['0s', '0s', '3s', '3.4s', '59s'])
})

test('what was saved is never shown as less than something', () => {
  expect([0, 0.00001, -0.00002].map(formatSaved)).toEqual(['$0.00', '$0.00', '$0.00'])
  expect([0.004, 1.239, -2].map(formatSaved)).toEqual(['≈ $0.0040', '≈ $1.24', '≈ $2.00'])
  expect(formatCost(0.00001)).toBe('< $0.0001')
})

const watch = {
  id: 'wch_1',
  name: 'web',
  prompt: 'Look.',
  workDir: '/srv',
  everyMs: 1_800_000,
  memory: 'fresh',
  overlap: 'skip',
  maxBudgetUsd: 2,
  notify: ['ops'],
} as unknown as Watch

test('a watch that is edited sends only what differs, and null for what was emptied', () => {
  const draft = draftOf(watch, '')
  expect(draft).toMatchObject({ fires: 'every', every: '30m', maxBudgetUsd: '2', notify: 'ops' })
  expect(changeOf(draft, watch)).toEqual({})
  expect(changeOf({ ...draft, maxBudgetUsd: '', notify: 'ops, me', dryRun: true }, watch)).toEqual({
    maxBudgetUsd: null,
    notify: ['ops', 'me'],
    dryRun: true,
  })
  expect(changeOf({ ...draft, fires: 'cron', cron: '0 7 * * *' }, watch)).toEqual({
    everyMs: null,
    cron: '0 7 * * *',
  })
  expect(changeOf({ ...draft, fires: '' }, watch)).toEqual({ everyMs: null })
  expect(() => changeOf({ ...draft, maxBudgetUsd: 'much' }, watch)).toThrow('not a number')
})

test('a new watch says only what was typed', () => {
  const draft = { ...draftOf(null, '/srv'), name: 'web', prompt: 'Look.' }
  expect(creationOf(draft)).toEqual({
    prompt: 'Look.',
    workDir: '/srv',
    everyMs: 1_800_000,
    memory: 'fresh',
    overlap: 'skip',
  })
  expect([90_000, 7_200_000, 1500, undefined].map(durationText)).toEqual(['90s', '2h', '1500ms', ''])
})

test('long Markdown is split between blocks, never inside code, and earlier parts stay when it grows', () => {
  const code = `\`\`\`ts\n${'const a = 1\n\n'.repeat(400)}\`\`\`\n\n`
  const text = `${'A line of text.\n\n'.repeat(300)}${code}${'More text.\n\n'.repeat(300)}`
  const parts = splitMarkdown(text)
  expect(parts.join('')).toBe(text)
  expect(parts.length).toBeGreaterThan(3)
  expect(parts.filter((part) => part.includes('```'))).toHaveLength(1)
  expect(splitMarkdown(`${text}and more`).slice(0, parts.length - 1)).toEqual(parts.slice(0, -1))
})

test('the steps of a run: its tools and the programs of the broker, ended or not', () => {
  const bodies: EventBody[] = [
    {
      type: 'tool-start',
      toolUseId: 'a',
      name: 'Bash',
      input: {},
      kind: 'shell',
      command: 'docker restart web',
    },
    { type: 'program-start', program: 'docker', what: 'docker restart web', workDir: '/srv' },
    { type: 'program-end', program: 'docker', what: 'docker restart web', exitCode: 0 },
    { type: 'program-start', program: 'docker', what: 'docker ps', workDir: '/srv' },
    { type: 'program-end', program: 'docker', what: 'docker ps', exitCode: 1 },
    { type: 'tool-end', toolUseId: 'a', isError: false, content: '' },
    {
      type: 'tool-start',
      toolUseId: 'b',
      name: 'StructuredOutput',
      input: {},
      kind: 'other',
      internal: true,
    },
    { type: 'tool-start', toolUseId: 'c', name: 'Bash', input: {}, kind: 'shell', command: 'sleep 9' },
    { type: 'question-answer', toolUseId: 'c', decision: 'allow', by: 'person' },
  ]
  const events = bodies.map(
    (body, index): RunEvent => ({
      ...body,
      runId: 'run_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      seq: index + 1,
      attemptId: null,
      at: new Date(index * 1000).toISOString(),
    }),
  )
  const steps = new Steps()
  for (const event of events) steps.take(event)
  expect(steps.steps).toMatchObject([
    { kind: 'broker', about: 'docker restart web', startedAt: 0, endedAt: 5000, failed: false },
    { kind: 'broker', name: 'docker', startedAt: 3000, endedAt: 4000, failed: true },
    { kind: 'tool', about: 'sleep 9', endedAt: null },
    { kind: 'answer', name: 'a person: allow' },
  ])
})

test('edits are counted and compared; a huge one is not counted while it is folded, nor compared line by line', () => {
  // The limit of time, which a busy machine could reach, is never reached: only that of changed lines counts here.
  vi.spyOn(Date, 'now').mockReturnValue(0)
  const small = { old_string: 'one\ntwo\n', new_string: 'one\n2\nthree\n' }
  expect(countEdits(editsOf(small))).toEqual({ added: 2, removed: 1 })
  expect(countEdits(editsOf({ edits: [small, small] }))).toEqual({ added: 4, removed: 2 })
  expect(countEdits(editsOf({ command: 'ls' }))).toBeNull()
  const lines = (word: string) => Array.from({ length: 50_000 }, (_, at) => `${word} ${at}\n`).join('')
  const huge = { before: lines('old'), after: lines('new') }
  expect([countEdits([huge]), compare(huge)]).toEqual([null, null])
  const [hunk] = compare({ before: huge.before, after: `${huge.before}one more\n` }) ?? []
  expect(hunk?.lines.at(-1)).toBe('+one more')
})
