/**
 * The model of a soak. It follows what it is told: if it was told that the outcome of a tool call is unknown, it
 * repeats the call only after a check; if it was told nothing and does not see the result, it repeats the call blindly.
 * So a line that appears twice in `notes` means that Reprise did not tell the model.
 */
import type { RuleInput, ScenarioInput, StepInput } from '../../src/simulator/scenario-types.ts'

/**
 * `slow`: its tool never ends by itself. `limit`, `fail`, `cut`: the model refuses the first requests, fails at them, or
 * cuts off its answer. `chain`: at a tier, which calls for the next one. All but `say` and `chain` write a line.
 */
export type Task = 'say' | 'note' | 'slow' | 'limit' | 'fail' | 'cut' | 'chain'

export const tagOf = (number: number, task: Task) => `soak-${String(number).padStart(4, '0')}-${task}`
export const promptOf = (tag: string) => `Please do ${tag}.`
/** What the agent is told while it works. */
export const messageOf = (tag: string) => `Mind ${tag}.`
/** Every prompt of ours in a text, by its tag. */
export const promptsIn = (text: string) => [...text.matchAll(/Please do (soak-\d+-\w+)\./g)].map((m) => m[1]!)
/** The same for what agents were told while they worked. */
export const messagesIn = (text: string) => [...text.matchAll(/Mind (soak-\d+-\w+)\./g)].map((m) => m[1]!)

export const isTask = (tag: string, task: Task) => tag.endsWith(`-${task}`)
export const writesLine = (tag: string) => !isTask(tag, 'say') && !isTask(tag, 'chain')
export const resultOf = (tag: string) => (isTask(tag, 'say') ? `Said ${tag}.` : `Finished ${tag}.`)

/** Rules that begin a turn with one of our prompts. */
export const PROMPT_RULE = 'prompt'
export const FALLBACK_RULE = 'nothing fits'

/** What the CLI puts into a resumed history for a call whose result it had not recorded. */
const CLI_UNKNOWN = "the session ended before this call's result was recorded"
const PACE_MS = 40
const WORDS = 'It takes a while to say this, so that there is a middle in which one can be killed. '

// The output must not be part of the command: `noted <tag>` shows whether a result is in the history.
const bash = (command: string) => ({
  tool: 'Bash',
  input: {
    command: `${command}; sleep 0.$((RANDOM % 3)); printf 'no%s %s\\n' ted $1`,
    description: 'note it',
  },
})
const blind = bash('echo $1 >> notes')
const endless = bash('echo $1 >> notes; until [ -e never ]; do sleep 0.1; done')
const careful = bash('grep -qx $1 notes || echo $1 >> notes')
const forTag = (step: typeof blind, tag: string) =>
  JSON.parse(JSON.stringify(step).replaceAll('$1', tag)) as typeof blind

const NOTING = '(soak-\\d+-(?:note|slow|limit|fail|cut))'
// A prompt that got no answer comes before it in the same message.
const INTERRUPTED = '(?:^|\\n)<reprise>\\s*You were interrupted'
/** What a tier reports: the first calls for the second. */
const report = (escalate: boolean): StepInput => ({
  tool: 'StructuredOutput',
  input: {
    status: escalate ? 'down' : 'fixed',
    summary: 'It was looked at.',
    checks: [],
    services: [],
    actions: [],
    escalate,
    reason: 'as planned',
  },
})

/** The session of a tier is resumed by the next one, so the history may hold both. */
function chainRules(tag: string, interrupted: string): RuleInput[] {
  const second = [promptOf(tag), 'tier 2 of']
  return [
    {
      name: 'told to continue at tier 2',
      when: { user: interrupted, contains: second },
      reply: [report(false)],
    },
    {
      name: 'told to continue at tier 1',
      when: { user: interrupted, contains: promptOf(tag) },
      reply: [report(true)],
    },
    { name: 'tier 2', when: { user: 'tier 2 of', contains: promptOf(tag) }, reply: [report(false)] },
    { name: 'tier 1', when: { user: 'tier 1 of', contains: promptOf(tag) }, reply: [report(true)] },
  ]
}

/** A message that comes with the prompt itself, or instead of it, must not lead to a second line. */
function messageRules(tag: string): RuleInput[] {
  const done: RuleInput = {
    name: 'message',
    when: { user: messageOf(tag), ...(writesLine(tag) ? { contains: `noted ${tag}` } : {}) },
    reply: resultOf(tag),
  }
  if (!writesLine(tag)) return [done]
  return [done, { name: 'message first', when: { user: messageOf(tag) }, reply: [forTag(careful, tag)] }]
}

/** The CLI itself retries a refused request once. */
const FAULTY: Partial<Record<Task, readonly StepInput[]>> = {
  limit: [{ rateLimit: { resetsIn: '1s', times: 2 } }],
  fail: [{ error: { status: 529, times: 3 } }],
  cut: [{ text: 'It is ' }, { cut: { times: 1 } }],
}

export function soakScenario(tags: readonly string[]): ScenarioInput {
  const interrupted = `/${INTERRUPTED}/`
  const rules: RuleInput[] = [
    {
      name: 'told that it is done',
      when: { user: `/${INTERRUPTED}[^]*?${NOTING}[^\\n]*: done\\n/` },
      reply: 'Finished $1.',
    },
    {
      name: 'told of an unknown outcome',
      when: { user: `/${INTERRUPTED}[^]*?${NOTING}[^\\n]*: (?:outcome unknown|failed)\\n/` },
      reply: [careful],
    },
  ]
  // The newest of our prompts in a session is the current one.
  for (const tag of tags.toReversed()) {
    if (isTask(tag, 'chain')) {
      rules.push(...chainRules(tag, interrupted))
      continue
    }
    if (isTask(tag, 'say')) {
      rules.push({
        name: 'told to continue',
        when: { user: interrupted, contains: promptOf(tag) },
        reply: resultOf(tag),
      })
      continue
    }
    rules.push(
      {
        name: 'told to continue, result seen',
        when: { user: interrupted, contains: [promptOf(tag), `noted ${tag}`] },
        reply: resultOf(tag),
      },
      {
        name: 'told by the CLI of an unknown outcome',
        when: { user: interrupted, contains: [promptOf(tag), CLI_UNKNOWN] },
        reply: [forTag(careful, tag)],
      },
      {
        name: 'told to continue, no result seen',
        when: { user: interrupted, contains: promptOf(tag) },
        reply: [forTag(blind, tag)],
      },
    )
  }
  rules.push({
    name: 'handed over',
    when: { user: `/What these tools did stays done[^]*Please do ${NOTING}\\.$/` },
    reply: [careful],
  })
  for (const [task, steps] of Object.entries(FAULTY)) {
    for (const tag of tags.filter((one) => isTask(one, task as Task))) {
      rules.push({
        name: PROMPT_RULE,
        when: { user: `/Please do ${tag}\\.$/` },
        reply: [...steps, forTag(blind, tag)],
      })
    }
  }
  rules.push(
    { name: PROMPT_RULE, when: { user: '/Please do (soak-\\d+-slow)\\.$/' }, reply: [endless] },
    { name: PROMPT_RULE, when: { user: '/Please do (soak-\\d+-note)\\.$/' }, reply: [blind] },
    {
      name: PROMPT_RULE,
      when: { user: '/Please do (soak-\\d+-say)\\.$/' },
      reply: [{ text: WORDS, pace: PACE_MS }, { text: 'Said $1.' }],
    },
    {
      name: 'result',
      when: { tool: 'Bash', toolResult: `/noted ${NOTING}/` },
      reply: [{ wait: 100 }, { text: 'Finished $1.' }],
    },
    { name: 'reported', when: { tool: 'StructuredOutput' }, reply: 'Reported.' },
    { name: 'refused', when: { tool: 'Bash', toolResult: '/[^]*/' }, reply: 'It was refused: ${toolResult}' },
    ...tags.toReversed().flatMap(messageRules),
    { name: FALLBACK_RULE, reply: 'Lost: ${user}' },
  )
  return { name: 'soak', rules }
}
