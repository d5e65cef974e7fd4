/** The composition of prompts. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tierTexts } from '../../src/core/escalation/added-texts.ts'
import { conversationTexts } from '../../src/core/history/added-texts.ts'
import { type ComposeInput, composePrompt } from '../../src/core/prompt/compose.ts'
import { type Interruption, type Step, stepOf, type ToolCall } from '../../src/core/prompt/interruption.ts'
import { splitAsides } from '../../src/core/prompt/parts.ts'
import type { PastPart, PastTurn } from '../../src/core/prompt/past.ts'
import { composeReminder } from '../../src/core/prompt/reminder.ts'
import { decideResume, type ResumeDecision } from '../../src/core/resume/decide.ts'
import { checkProperty } from './random.ts'
import { factsArbitrary, NOW } from './resume-facts.ts'

const resume: ResumeDecision = { kind: 'resume', agentSessionId: 'x', carry: 'none' }
const fresh = (carry: 'none' | 'transcript' | 'handoff'): ResumeDecision => ({
  kind: 'fresh',
  reason: 'expired',
  carry,
})

const said = (text: string) => [{ kind: 'text' as const, text }]
const TURNS: PastTurn[] = [
  { prompt: 'what is the plover', answer: said('a wading bird') },
  { prompt: 'and the dunlin', answer: null, ending: 'ran longer than its maximum duration' },
]

const TOOLS: readonly ToolCall[] = [
  { name: 'Bash', input: { command: 'make build' }, ending: 'ok' },
  { name: 'Bash', input: { command: 'make test' }, ending: 'error' },
  { name: 'Bash', input: { command: 'make deploy' }, ending: null },
]
const calls = (tools: readonly ToolCall[]): Step[] => tools.map((tool) => ({ tool }))
const interrupted = (change: Partial<Interruption> = {}): Interruption => ({
  how: 'the agent was ended by signal 9',
  steps: calls(TOOLS),
  stepsSincePrompt: calls(TOOLS),
  work: (change.steps ?? calls(TOOLS)).flatMap((step) => ('tool' in step ? [stepOf(step.tool)] : [])),
  promptRecorded: true,
  ...change,
})

const compose = (input: Partial<ComposeInput>) => texts(input).join('\n\n')
const texts = (input: Partial<ComposeInput>) =>
  composePrompt({ decision: resume, prompt: 'go on with it', turns: [], interruption: null, ...input }).texts

/** The asides of Reprise, and the text without them. */
function split(text: string): { asides: string; own: string } {
  const asides = text.match(/<reprise>\n[\s\S]*?\n<\/reprise>/g) ?? []
  return {
    asides: asides.join('\n'),
    own: asides.reduce((rest, aside) => rest.replace(aside, ''), text).trim(),
  }
}

describe('a resumed session', () => {
  it('is given the prompt as the user wrote it, and nothing else', () => {
    expect(compose({ turns: TURNS })).toBe('go on with it')
  })

  it('is not given a prompt that it has already, but told what happened', () => {
    const text = compose({ interruption: interrupted() })
    expect(text).not.toContain('go on with it')
    const { asides, own } = split(text)
    expect(own).toBe('')
    expect(asides).toContain('ended by signal 9')
    expect(asides).toMatch(/make build.*: done/)
    expect(asides).toMatch(/make test.*: failed/)
    expect(asides).toMatch(/make deploy.*: outcome unknown/)
    expect(asides).toMatch(/look at the actual state before/i)
  })

  it.each<[string, NonNullable<ToolCall['waited']>, RegExp]>([
    [
      'answered',
      { for: 'answer', answers: { 'Which?': 'violet' } },
      /answered "Which\?" = "violet".*do not ask/,
    ],
    ['not answered', { for: 'answer', answers: null }, /not answered yet; ask again/],
    [
      'answered with a secret',
      { for: 'answer', answers: { 'Key?': '[redacted: secret]' } },
      /not kept; ask again/,
    ],
    ['not permitted yet', { for: 'permission' }, /did not run; call it again/],
    ['refused', { for: 'refused', why: 'not today' }, /refused \(not today\), so it did not run/],
  ])('is told of what a tool waited for: %s', (_, waited, told) => {
    const tools: ToolCall[] = [{ name: 'Ask', input: 'x', ending: null, waited }]
    const text = compose({ interruption: interrupted({ steps: calls(tools) }) })
    expect(text).toMatch(told)
    expect(text).not.toMatch(/unknown|actual state/)
  })

  it('is told what it was saying; of a long text only the end', () => {
    const text = compose({ interruption: interrupted({ steps: [{ text: 'one, two, </said> three' }] }) })
    expect(text).toContain('<said>one, two, &lt;/said> three</said>')
    const long = compose({
      interruption: interrupted({ steps: [{ text: `${'y'.repeat(100_000)} the end` }] }),
    })
    expect(long.length).toBeLessThan(6000)
    expect(long).toContain('yyy the end</said>')
  })

  it('is told what it said before its last tools, which its own history may lack, within limits', () => {
    const steps: Step[] = [
      { text: 'I build it.' },
      { tool: TOOLS[0]! },
      { text: `${'y'.repeat(50_000)} and test it.` },
      { tool: TOOLS[1]! },
      { tool: { name: 'Read', input: 'of a sub-agent', ending: 'ok' }, nested: true },
      { text: 'It fails bec' },
      { tool: { name: 'Read', input: 'of another', ending: 'ok' }, nested: true },
    ]
    const text = compose({ interruption: interrupted({ steps }) })
    expect(text).toMatch(
      /make build.*\n- you said: <said>…y+ and test it\.<\/said>\n- .*make test.*\n- Read of a sub-agent.*\n- Read of another.*\n.*right behind it.*\n<said>It fails bec<\/said>/,
    )
    expect(text.length).toBeLessThan(6000)
    // The older text has no room left.
    expect(text).not.toContain('I build it.')
  })

  it.each([false, true])(
    'in a conversation, is not told that all is answered if its last turn is open: %s',
    (unfinished) => {
      const added = conversationTexts({
        instructions: null,
        hadInstructions: false,
        unfinished,
        cleared: false,
      })
      expect(compose({ added }).includes('have been answered')).toBe(!unfinished)
      expect(compose({ added }).includes('may be the answer')).toBe(unfinished)
    },
  )

  it('is told what is done, because its own history may lack the end, but not all of a long past', () => {
    const tools = Array.from({ length: 30 }, (_, n) => ({
      name: 'Bash',
      input: `step ${n}.`,
      ending: 'ok' as const,
    }))
    const text = compose({ interruption: interrupted({ steps: calls(tools) }) })
    expect(text).toContain('step 29.')
    expect(text).not.toContain('step 3.')
    expect(text).toContain('do not repeat what is done')
    expect(text).not.toMatch(/unknown/)
  })

  it('is told not to start over when no tool was left open', () => {
    const text = compose({ interruption: interrupted({ steps: [] }) })
    expect(text).toContain('Do not start over')
    expect(text).not.toMatch(/unknown/)
  })

  it('is given the prompt after a crash that came before it was accepted', () => {
    const interruption = interrupted({ promptRecorded: false, stepsSincePrompt: [] })
    expect(compose({ interruption })).toBe('go on with it')
  })

  it.each<[string, Partial<Interruption>, RegExp]>([
    [
      'a tool',
      { stepsSincePrompt: calls(TOOLS.slice(1)) },
      /make test.*: failed\n.*make deploy.*: outcome unknown/,
    ],
    ['words', { stepsSincePrompt: [{ text: 'one, two' }] }, /<said>one, two<\/said>/],
    [
      'words, a tool, words',
      { stepsSincePrompt: [{ text: 'I test.' }, { tool: TOOLS[1]! }, { text: 'It fa' }] },
      /you said: <said>I test\.<\/said>\n- .*make test.*: failed\n.*go on right behind it.*\n<said>It fa<\/said>/,
    ],
  ])(
    'whose transcript lacks the prompt is given it, and told of the work begun on it: %s',
    (_, seen, told) => {
      const text = compose({ interruption: interrupted({ promptRecorded: false, ...seen }) })
      expect(text).toMatch(/\n\ngo on with it$/)
      const { asides, own } = split(text)
      expect(own).toBe('go on with it')
      expect(asides).toMatch(/You were interrupted: the agent was ended by signal 9.*this message/)
      expect(asides).toMatch(told)
      expect(asides).not.toContain('make build')
    },
  )
})

describe('texts that are sent once', () => {
  const chat = { instructions: 'be brief', hadInstructions: true, unfinished: false, cleared: false }
  const tier = { brief: 'THE BRIEF', environment: 'THE PLACE', handoff: null, takesOver: false }

  it.each(['known', 'changed', 'compacted'] as const)(
    'in a conversation, to a session that has it %s',
    (standing) => {
      const known = standing === 'known'
      const added = conversationTexts(chat)
      expect(compose({ added, standing }).includes('be brief')).toBe(!known)
      expect(compose({ added, standing, interruption: interrupted() }).includes('be brief')).toBe(!known)
      const removed = conversationTexts({ ...chat, instructions: null })
      expect(compose({ added: removed, standing }).includes('no longer apply')).toBe(!known)
      const never = conversationTexts({ ...chat, instructions: null, hadInstructions: false })
      expect(compose({ added: never, standing })).not.toContain('no longer apply')
    },
  )

  it.each(['known', 'changed', 'compacted'] as const)(
    'at a tier, to a session that has it %s',
    (standing) => {
      const known = standing === 'known'
      const added = tierTexts(tier)
      expect(compose({ added, standing })).toContain('THE BRIEF')
      expect(compose({ added, standing }).includes('THE PLACE')).toBe(!known)
      const cutOff = compose({ added, standing, interruption: interrupted() })
      expect(/THE BRIEF[\s\S]*THE PLACE[\s\S]*interrupted/.test(cutOff)).toBe(!known)
      const takesOver = compose({ added: tierTexts({ ...tier, takesOver: true }), standing })
      expect(takesOver.includes('go on with it')).toBe(standing === 'compacted')
    },
  )

  it('includes the task: a session that was compacted since is told it again', () => {
    const again = (standing: 'known' | 'changed' | 'compacted') =>
      compose({ standing, interruption: interrupted() }).includes('<task>\ngo on with it\n</task>')
    expect([again('known'), again('changed'), again('compacted')]).toEqual([false, false, true])
    expect(compose({ task: 'mend the roof', standing: 'compacted' })).toContain('mend the roof')
    expect(compose({ task: 'mend the roof', standing: 'known' })).toBe('go on with it')
    expect(composeReminder(tierTexts(tier), 'mend the roof', ['with slate']).join()).toMatch(
      /BRIEF[\s\S]*PLACE[\s\S]*roof[\s\S]*slate/,
    )
  })
})

describe('the messages that were sent to the agent', () => {
  const said = ['with slate']
  it.each<[string, Partial<ComposeInput>]>([
    ['interrupted', { interruption: interrupted() }],
    ['compacted because the prompt did not fit', { interruption: interrupted(), roomMade: true }],
    ['compacted before it had the prompt', {}],
  ])('are repeated to a session that was compacted, not to another one: %s', (_, input) => {
    expect(compose({ ...input, said, standing: 'compacted' })).toMatch(/sent to you[\s\S]*with slate/)
    expect(compose({ ...input, said, standing: 'known' })).not.toContain('slate')
  })
})

describe("the user's text", () => {
  const said = { instructions: 'be brief', hadInstructions: false, unfinished: false, cleared: false }
  const chat = { added: conversationTexts(said), catchUp: TURNS }
  const workTree = 'somebody has changed a file'

  it('is the last text and separate, whatever is added, because the agent looks there for commands', () => {
    const inputs: Partial<ComposeInput>[] = [
      { ...chat, workTree, standing: 'changed' },
      { decision: fresh('transcript'), turns: TURNS, ...chat, workTree },
      { roomMade: true, interruption: interrupted(), ...chat },
    ]
    for (const input of inputs) {
      const given = texts({ prompt: '/compact', ...input })
      expect(given.length).toBeGreaterThan(1)
      expect(given.at(-1)).toBe('/compact')
      for (const text of given.slice(0, -1)) expect(text).toMatch(/^<(reprise|instructions)>/)
    }
  })

  it('follows the asides that a stored prompt begins with', () => {
    const due = '<reprise>\na follow-up\n</reprise>\n\n/verify it'
    expect(splitAsides(due)).toEqual(['<reprise>\na follow-up\n</reprise>', '/verify it'])
    for (const whole of ['/verify', 'x <reprise>\ny\n</reprise>\n\nz', '<reprise>\ny\n</reprise>'])
      expect(splitAsides(whole)).toEqual([whole])
  })
})

describe('a fresh session', () => {
  it('without a past is given the prompt alone', () => {
    expect(compose({ decision: fresh('none') })).toBe('go on with it')
  })

  it('is given the past, set apart from the prompt, which comes last', () => {
    const text = compose({ decision: fresh('transcript'), turns: TURNS })
    const { asides, own } = split(text)
    expect(own).toBe('go on with it')
    expect(text.endsWith('go on with it')).toBe(true)
    for (const part of ['what is the plover', 'a wading bird', 'and the dunlin', 'ran longer than']) {
      expect(asides).toContain(part)
    }
    expect(asides.indexOf('the plover')).toBeLessThan(asides.indexOf('the dunlin'))
    expect(asides).not.toContain('null')
  })

  it('is told what an interrupted attempt did, with what is unknown marked as such', () => {
    const { asides, own } = split(
      compose({ decision: fresh('handoff'), turns: TURNS, interruption: interrupted() }),
    )
    expect(own).toBe('go on with it')
    expect(asides).toContain('a wading bird')
    expect(asides).toContain('ended by signal 9')
    expect(asides).toMatch(/make build.*: done/)
    expect(asides).toMatch(/make test.*: failed/)
    expect(asides).toMatch(/make deploy.*: outcome unknown/)
    expect(asides).toMatch(/look at the actual state before/i)
  })

  it('is told when the interrupted attempt had run no tool', () => {
    const text = compose({ decision: fresh('handoff'), interruption: interrupted({ steps: [] }) })
    expect(text).toContain('had not run any tools')
    expect(text).not.toMatch(/look at the actual state/i)
  })

  it('is given all of a long history if there is room, and otherwise told what is missing', () => {
    const turns = Array.from({ length: 5 }, (_, i) => ({
      turn: i + 1,
      prompt: `asked ${i}`,
      answer: said('a'.repeat(150_000)),
    }))
    const input = { decision: fresh('transcript'), turns }
    expect(compose({ ...input, room: 200_000 }).match(/asked \d/g)).toHaveLength(5)
    const long = compose({ ...input, room: 100_000 })
    expect(long.match(/asked \d/g)).toEqual(['asked 2', 'asked 3', 'asked 4'])
    expect(long).toContain('(2 earlier turns were left out.)')
  })

  it('is told what the agent said and what its tools printed, the oldest turns giving way first', () => {
    const work: PastPart[] = [
      ...said('I begin with the build.'),
      stepOf(TOOLS[0]!, 'built in 3 s </output> indeed'),
      stepOf(TOOLS[2]!),
    ]
    const input = { decision: fresh('handoff'), turns: TURNS, interruption: interrupted({ work }) }
    expect(compose(input)).toMatch(
      /a wading bird[\s\S]*said: <said>I begin with the build\.<\/said>\n- Bash .*: done\n<output>\nbuilt in 3 s &lt;\/output> indeed\n<\/output>\n- Bash .*deploy.*: outcome unknown/,
    )
    const tight = compose({ ...input, room: 40 })
    expect(tight).toContain('(2 earlier turns were left out.)')
    expect(tight).toContain('(2 earlier steps are left out.)')
    expect(tight).toContain('make deploy')
  })

  it('is told of a tool whose input is missing', () => {
    const tools = [{ name: 'Odd', input: undefined, ending: null }]
    expect(
      compose({ decision: fresh('handoff'), interruption: interrupted({ steps: calls(tools) }) }),
    ).toContain('Odd')
  })
})

describe('with any facts and texts', () => {
  /** Tagged, so that none of the texts can be found in another one. */
  const tagged = (tag: string) =>
    fc.string({ maxLength: 30 }).map((text) => `${text.replace(/[[\]]/g, '')}[${tag}]`)
  const several = <T>(max: number, item: (index: number) => fc.Arbitrary<T>) =>
    fc.nat({ max }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => item(index))))
  const past = fc.record({
    prompt: tagged('prompt'),
    turns: several(5, (i) =>
      fc.record({ prompt: tagged(`asked ${i}`), answer: fc.option(tagged(`answered ${i}`).map(said)) }),
    ),
    interruption: fc.option(
      fc.record({
        how: tagged('how'),
        promptRecorded: fc.boolean(),
        tools: several(4, (i) =>
          fc.record({
            name: fc.constant('Bash'),
            input: tagged(`input ${i}`),
            ending: fc.constantFrom('ok', 'error', null),
          }),
        ),
      }),
    ),
  })

  it('the past is in the text exactly if the session does not have it', () => {
    const seen = { resumed: 0, fresh: 0 }
    checkProperty(
      fc.property(factsArbitrary, past, (facts, { turns, prompt, interruption }) => {
        const talk = turns.flatMap((turn) => [turn.prompt, ...(turn.answer ?? []).map(({ text }) => text)])
        const tools = interruption?.tools ?? []
        const unknown = tools.filter((tool) => tool.ending === null)
        const decision = decideResume(
          { ...facts, past: { turns: turns.length > 0, unfinishedWork: tools.length > 0 } },
          NOW,
        )
        const work = tools.map((tool) => stepOf(tool))
        const text = compose({
          decision,
          prompt,
          turns,
          interruption: interruption && { ...interruption, steps: calls(tools), stepsSincePrompt: [], work },
        })
        if (decision.kind === 'resume') {
          seen.resumed++
          for (const part of talk) expect(text).not.toContain(part)
          expect(text.includes(prompt)).toBe(interruption?.promptRecorded !== true)
          if (interruption?.promptRecorded) {
            for (const tool of tools.slice(-10)) expect(text).toContain(tool.input)
            expect(/look at the actual state/.test(text)).toBe(
              tools.slice(-10).some((tool) => tool.ending === null),
            )
          }
        } else {
          seen.fresh++
          for (const part of [...talk, ...tools.map((tool) => tool.input)]) expect(text).toContain(part)
          expect(text.split(': outcome unknown')).toHaveLength(unknown.length + 1)
          expect(text.endsWith(prompt)).toBe(true)
          expect(text.split(prompt)).toHaveLength(2)
        }
      }),
      1500,
    )
    expect(Math.min(seen.resumed, seen.fresh)).toBeGreaterThan(50)
  })
})
