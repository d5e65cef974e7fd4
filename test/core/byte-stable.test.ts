/** The texts that Reprise adds to a session are byte-stable, whenever and wherever they are composed, because a prompt cache compares bytes. */
import { afterEach, expect, it } from 'vitest'
import { FollowUpId } from '../../src/contract/ids.ts'
import { type ComposeInput, composePrompt } from '../../src/core/prompt/compose.ts'
import { composeCyclePrompt, composeFollowUpPrompt } from '../../src/core/watch/prompt.ts'

const { TZ, LANG } = process.env
afterEach(() => {
  for (const [name, value] of Object.entries({ TZ, LANG })) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
})

const AT = new Date('2026-03-29T00:30:00Z')
const FOLLOW_UP = FollowUpId.create(AT)
const input: ComposeInput = {
  decision: { kind: 'fresh', reason: 'expired', carry: 'handoff' },
  prompt: 'go on',
  turns: [{ prompt: 'what is the plover', answer: [{ kind: 'text', text: 'a wading bird' }] }],
  interruption: {
    how: 'the agent was ended by signal 9',
    steps: [
      { tool: { name: 'Bash', input: { command: 'make', timeout: 10_000 }, ending: 'ok' } },
      { text: 'one, two' },
    ],
    stepsSincePrompt: [{ text: 'one, two' }],
    work: [{ kind: 'tool', name: 'Bash', input: 'make', ending: 'done', output: 'built' }],
    promptRecorded: false,
  },
}

function texts(): string {
  return JSON.stringify([
    composePrompt(structuredClone(input)),
    composeFollowUpPrompt({
      id: FOLLOW_UP,
      prompt: 'verify',
      reason: 'it may fail',
      createdBy: 'agent',
      createdAt: AT,
      dueAt: AT,
      now: new Date(AT.getTime() + 3_600_000),
    }),
    composeCyclePrompt({
      prompt: 'look',
      trigger: 'schedule',
      reason: null,
      events: [],
      memory: [{ number: 3, at: AT, status: null, summary: 'all well, 12345.6 requests' }],
    }),
  ])
}

it('in every time zone and language, and however often', () => {
  const said = new Set<string>()
  for (const zone of ['UTC', 'Asia/Tokyo', 'America/St_Johns', 'Europe/Berlin']) {
    for (const language of ['C', 'de_DE.UTF-8', 'ar_EG.UTF-8']) {
      Object.assign(process.env, { TZ: zone, LANG: language })
      said.add(texts())
    }
  }
  expect([...said]).toHaveLength(1)
})
