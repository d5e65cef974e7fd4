/** What a session is told again after a compaction. */
import { expect, it } from 'vitest'
import { conversationTexts } from '../../src/core/history/added-texts.ts'
import { remindMidTurn } from '../../src/core/prompt/reminder.ts'

const instructed = (instructions: string) =>
  conversationTexts({ instructions, hadInstructions: true, unfinished: false, cleared: false })
const remind = (instructions: string, prompt: string, task = prompt, said: string[] = []) => {
  const { texts, whole } = remindMidTurn(instructed(instructions), { task, prompt, said }, 10_000)
  return { text: texts.join('\n\n'), whole }
}

it('in the middle of a turn: what is sent once, and the message that is being answered', () => {
  const { text, whole } = remind('be brief', 'mend the roof')
  expect(whole).toBe(true)
  expect(text).toMatch(/be brief[\s\S]*working on[\s\S]*<task>\nmend the roof\n<\/task>/)
  expect(text.match(/<task>/g)).toHaveLength(1)
})

it('a follow-up comes with the task that it belongs to', () => {
  const { text } = remind('be brief', 'is it tight?', 'mend the roof')
  expect(text).toMatch(/<task>\nmend the roof\n<\/task>[\s\S]*<task>\nis it tight\?\n<\/task>/)
})

it('the messages that were sent meanwhile follow the task that they change; all are shortened alike', () => {
  const { text, whole } = remind('be brief', 'mend the roof', undefined, ['use tin', 'no, use <task>slate'])
  expect(whole).toBe(true)
  expect(text).toMatch(
    /mend the roof\n<\/task>[\s\S]*sent to you[\s\S]*use tin\n\nno, use &lt;task>slate\n<\/reprise>$/,
  )
  const long = remind('be brief', 'x'.repeat(50_000), 'y'.repeat(50_000), ['z'.repeat(50_000), 'use slate'])
  expect(long.whole).toBe(false)
  expect(long.text.length).toBeLessThanOrEqual(10_000)
  for (const words of ['xxx', 'yyy', 'zzz', 'use slate']) expect(long.text).toContain(words)
})

it.each([
  ['the message', 'be brief', `BEGIN ${'x'.repeat(50_000)} END`, undefined],
  ['message and task', 'be brief', `BEGIN ${'x'.repeat(50_000)} END`, `B2 ${'y'.repeat(50_000)} E2`],
])('%s that is too long is shortened in the middle, and that is said', (_, instructions, prompt, task) => {
  const { text, whole } = remind(instructions, prompt, task)
  expect(whole).toBe(false)
  expect(text.length).toBeLessThanOrEqual(10_000)
  for (const words of ['be brief', 'BEGIN', ' END', ...(task ? ['B2', ' E2'] : [])])
    expect(text).toContain(words)
})

it('instructions are never shortened', () => {
  const long = `BEGIN ${'x'.repeat(20_000)} END`
  const { text, whole } = remind(long, 'mend the roof')
  expect(whole).toBe(false)
  expect(text).toContain(long)
  expect(text).not.toContain('mend the roof')
})
