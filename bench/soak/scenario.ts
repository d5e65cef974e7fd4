/**
 * The model of a soak. It does what it is told and believes what it is told: a tool call whose outcome it was told
 * is unknown it makes again only after a look; one that it was told nothing about, and whose result it does not see,
 * it makes again blindly. So a line that appears twice in `notes` means that Reprise did not tell.
 */
import type { RuleInput, ScenarioInput } from '../../src/simulator/scenario-types.ts'

export type Task = 'say' | 'note'

export const tagOf = (number: number, task: Task) => `soak-${String(number).padStart(4, '0')}-${task}`
export const promptOf = (tag: string) => `Please do ${tag}.`
/** Every prompt of ours in a text, by its tag. */
export const promptsIn = (text: string) => [...text.matchAll(/Please do (soak-\d+-\w+)\./g)].map((m) => m[1]!)

export const resultOf = (tag: string) => (tag.endsWith('-say') ? `Said ${tag}.` : `Finished ${tag}.`)

/** Rules that begin a turn with one of our prompts. */
export const PROMPT_RULE = 'prompt'
export const FALLBACK_RULE = 'nothing fits'

/** What the CLI puts into a resumed history for a call whose result it had not recorded. */
const CLI_UNKNOWN = "the session ended before this call's result was recorded"
const PACE_MS = 40
const WORDS = 'It takes a while to say this, so that there is a middle in which one can be killed. '

// The output must not be found in the command: whether a result is in the history is told by `noted <tag>`.
const bash = (command: string) => ({
  tool: 'Bash',
  input: {
    command: `${command}; sleep 0.$((RANDOM % 3)); printf 'no%s %s\\n' ted $1`,
    description: 'note it',
  },
})
const blind = bash('echo $1 >> notes')
const careful = bash('grep -qx $1 notes || echo $1 >> notes')
const forTag = (step: typeof blind, tag: string) =>
  JSON.parse(JSON.stringify(step).replaceAll('$1', tag)) as typeof blind

export function soakScenario(runs: number): ScenarioInput {
  const interrupted = '/^<reprise>\\s*You were interrupted/'
  const rules: RuleInput[] = [
    {
      name: 'told of an unknown outcome',
      when: {
        user: `${interrupted.slice(0, -1)}[^]*outcome of your last tool call is unknown[^]*?(soak-\\d+-note)/`,
      },
      reply: [careful],
    },
  ]
  // The newest of our prompts in a session is the one under way.
  for (let number = runs; number > 0; number--) {
    const [say, note] = [tagOf(number, 'say'), tagOf(number, 'note')]
    rules.push(
      {
        name: 'told to go on, result seen',
        when: { user: interrupted, contains: [promptOf(note), `noted ${note}`] },
        reply: resultOf(note),
      },
      {
        name: 'told by the CLI of an unknown outcome',
        when: { user: interrupted, contains: [promptOf(note), CLI_UNKNOWN] },
        reply: [forTag(careful, note)],
      },
      {
        name: 'told to go on, no result seen',
        when: { user: interrupted, contains: promptOf(note) },
        reply: [forTag(blind, note)],
      },
      { name: 'told to go on', when: { user: interrupted, contains: promptOf(say) }, reply: resultOf(say) },
    )
  }
  rules.push(
    {
      name: 'handed over',
      when: { user: '/Tools had already run in it[^]*Please do (soak-\\d+-note)\\.$/' },
      reply: [careful],
    },
    { name: PROMPT_RULE, when: { user: '/Please do (soak-\\d+-note)\\.$/' }, reply: [blind] },
    {
      name: PROMPT_RULE,
      when: { user: '/Please do (soak-\\d+-say)\\.$/' },
      reply: [{ text: WORDS, pace: PACE_MS }, { text: 'Said $1.' }],
    },
    {
      name: 'result',
      when: { tool: 'Bash', toolResult: '/noted (soak-\\d+-note)/' },
      reply: [{ wait: 100 }, { text: 'Finished $1.' }],
    },
    { name: 'refused', when: { tool: 'Bash', toolResult: '/[^]*/' }, reply: 'It was refused: ${toolResult}' },
    { name: FALLBACK_RULE, reply: 'Lost: ${user}' },
  )
  return { name: 'soak', rules }
}
