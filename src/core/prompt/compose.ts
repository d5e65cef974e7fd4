/**
 * The text an attempt is given. It follows from the resume decision and nothing else: a resumed session gets only
 * what is new; a fresh one gets the past its decision says it must carry.
 *
 * Text that Reprise adds is set apart in <reprise> tags, so that neither the model nor a reader takes it for the
 * user's own words.
 */
import type { ResumeDecision } from '../resume/decide.ts'

export interface PastTurn {
  prompt: string
  /** The agent's final words; null if the turn did not get that far. */
  answer: string | null
  /** How the turn ended, if not well. */
  ending?: string
  /** Who answered, where several agents take part. */
  agent?: string
}

export interface ToolCall {
  name: string
  input: unknown
  /** null: it was running when the agent vanished. */
  ending: 'ok' | 'error' | null
}

/** What happened to the earlier attempts at this run. */
export interface Interruption {
  how: string
  tools: readonly ToolCall[]
  /** The agent's session already holds this run's prompt. */
  promptRecorded: boolean
}

export interface ComposeInput {
  decision: ResumeDecision
  prompt: string
  turns: readonly PastTurn[]
  interruption: Interruption | null
  /** The session has just been compacted because this prompt did not fit. */
  roomMade?: boolean
  chat?: ChatContext | null
  /** What was found in the work tree that the agent does not know of. */
  workTree?: string | null
  tier?: TierText | null
}

/** What a run at a tier is told besides its task. */
export interface TierText {
  /** Who it is now, what it may do, and what for. */
  brief: string
  environment: string | null
  /** Of the tiers before, for a session that knows nothing of them. */
  handoff: string | null
  /** It goes on with what a tier before began: the session knows the task. */
  takesOver: boolean
}

/** What a conversation adds. */
export interface ChatContext {
  /** Its instructions, and whether the session that would be resumed has them as they are now. */
  instructions: string | null
  instructionsKnown: boolean
  /** What others said since that session last took part. */
  catchUp: readonly PastTurn[]
}

/** What the agent must know about its files comes last: it concerns what it does next. */
export function composePrompt(input: ComposeInput): string {
  const text = composeTask(input)
  return input.workTree ? `${text}\n\n${aside(input.workTree)}` : text
}

function composeTask({ decision, prompt, turns, interruption, roomMade, chat, tier }: ComposeInput): string {
  if (decision.kind === 'resume') {
    if (roomMade) return `${aside(ROOM_MADE)}\n\n${tier ? resumedTier(tier, prompt) : prompt}`
    if (interruption?.promptRecorded) return aside(resumedAfter(interruption))
    if (tier) return resumedTier(tier, prompt)
    return chat ? [...resumedChat(chat), prompt].join('\n\n') : prompt
  }
  const parts: string[] = tier ? freshTier(tier) : []
  if (chat?.instructions) parts.push(instructed(chat.instructions))
  if (decision.carry !== 'none' && turns.length > 0 && !tier?.handoff) parts.push(transcript(SO_FAR, turns))
  if (decision.carry === 'handoff' && interruption) parts.push(aside(handoff(interruption)))
  return [...parts, prompt].join('\n\n')
}

/** The environment was described when the session began. */
const resumedTier = ({ brief, takesOver }: TierText, prompt: string) =>
  takesOver ? aside(brief) : `${aside(brief)}\n\n${prompt}`

const freshTier = ({ brief, environment, handoff }: TierText) => [
  aside(brief),
  ...(environment ? [`<environment>\n${environment}\n</environment>`] : []),
  ...(handoff ? [aside(handoff)] : []),
]

const ROOM_MADE =
  'Your context was full and has been compacted. This is the message that did not fit; if you had begun with it, go on from there.'
const SO_FAR = 'The conversation so far, for your information. Answer only the message after it.'
const MEANWHILE = 'Since your last turn, this was said in the conversation, for your information.'
/** A resumed model tends to answer what it asked itself, or to say that it is done because it was. */
const ATTEND = 'Earlier questions in this conversation have been answered. Attend to the message below.'

function resumedChat(chat: ChatContext): string[] {
  const parts: string[] = []
  if (!chat.instructionsKnown) {
    parts.push(
      chat.instructions
        ? instructed(chat.instructions)
        : aside('The instructions given earlier no longer apply.'),
    )
  }
  if (chat.catchUp.length > 0) parts.push(transcript(MEANWHILE, chat.catchUp))
  return [...parts, aside(ATTEND)]
}

const instructed = (text: string) => `<instructions>\n${text}\n</instructions>`

export const aside = (text: string) => `<reprise>\n${text}\n</reprise>`

/** What somebody said must not be able to end the part in which it is quoted. */
const quoted = (text: string) => text.replace(/<(?=\/?(?:reprise|user|assistant|instructions)\b)/g, '&lt;')

const LAST_TOOLS = 10
const HANDOFF_TOOLS = 100

/** The CLI writes its transcript later than its output: the end of what we saw may be missing in its own history. */
function resumedAfter(interruption: Interruption): string {
  const last = interruption.tools.slice(-LAST_TOOLS)
  const unknown = last.some((tool) => tool.ending === null)
  return [
    `You were interrupted: ${sentence(interruption.how)} This is the same task, going on from where you were.`,
    ...(last.length > 0
      ? [
          'Your last tool calls, as Reprise saw them; your own history may lack the end of this:',
          ...last.map(toolLine),
        ]
      : []),
    unknown
      ? 'Where the outcome is unknown, it may have run in part or in full: look at the actual state before you run it again. Then go on with the task.'
      : 'Do not start over, and do not repeat what is done: go on with the task.',
  ].join('\n')
}

/** What others said may end with a full stop, or not. */
const sentence = (text: string) => `${text.replace(/[.\s]+$/, '')}.`

const toolLine = (tool: ToolCall) => `- ${describeTool(tool)}: ${describeEnding(tool.ending)}`

function handoff(interruption: Interruption): string {
  const last = interruption.tools.slice(-HANDOFF_TOOLS)
  const left = interruption.tools.length - last.length
  const lines = [...(left > 0 ? [`(${left} earlier tool calls are left out.)`] : []), ...last.map(toolLine)]
  return [
    `An earlier attempt at the task below was interrupted (${interruption.how}) and its session cannot be resumed.`,
    lines.length > 0
      ? `Tools had already run in it; look at the actual state before repeating any of this:\n${lines.join('\n')}`
      : 'It had not run any tools.',
  ].join('\n')
}

const describeEnding = (ending: ToolCall['ending']) =>
  ending === null ? 'outcome unknown' : ending === 'ok' ? 'done' : 'failed'

const TOOL_INPUT_CHARS = 500

function describeTool(tool: ToolCall): string {
  const input = typeof tool.input === 'string' ? tool.input : JSON.stringify(tool.input)
  return `${tool.name} ${clip(input ?? '', TOOL_INPUT_CHARS)}`
}

/** About 100,000 tokens: a history that fills the window of the model it is for helps nobody. */
const TRANSCRIPT_CHARS = 400_000

/** The newest turns are kept whole; if not all fit, it is said how many were left out. */
function transcript(heading: string, turns: readonly PastTurn[]): string {
  const body: string[] = []
  let room = TRANSCRIPT_CHARS
  for (const turn of turns.toReversed()) {
    const text = turnText(turn)
    if (text.length > room && body.length > 0) break
    body.unshift(clip(text, room))
    room -= text.length
  }
  const left = turns.length - body.length
  if (left > 0) body.unshift(`(${left} earlier ${left === 1 ? 'turn was' : 'turns were'} left out.)`)
  return aside(`${heading}\n\n${body.join('\n\n')}`)
}

function turnText(turn: PastTurn): string {
  return [
    turn.prompt === '' ? '' : `<user>\n${quoted(turn.prompt)}\n</user>`,
    turn.answer === null
      ? ''
      : `<assistant${turn.agent ? ` agent="${turn.agent}"` : ''}>\n${quoted(turn.answer)}\n</assistant>`,
    turn.ending ? `(${turn.ending})` : '',
  ]
    .filter(Boolean)
    .join('\n')
}

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`
}
