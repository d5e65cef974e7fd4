/** Composes the texts for an attempt, and computes how much they save compared with sending the whole history. */
import { composePrompt } from '../../core/prompt/compose.ts'
import { estimateTokens, roomForPast } from '../../core/prompt/tokens.ts'
import type { Sent } from '../../store/runs/records.ts'
import type { Brief, RunContext } from '../base/purpose.ts'
import { standingOf } from './context.ts'
import type { AttemptDecision } from './decide.ts'
import { type EarlierAttempts, toInterruption } from './history.ts'

/** An upper bound: a text that fits into n tokens has at most n times as many characters. */
const CHARS_PER_TOKEN = 4

export interface TextsInput {
  context: RunContext
  decided: AttemptDecision
  earlier: EarlierAttempts
  /** The session that is resumed already contains the prompt. */
  promptRecorded: boolean
  /** The messages that were sent to the agent while it worked on the same task, if the session does not have them. */
  said: readonly string[]
  /** A text about changes in the work tree that the agent does not know. */
  workTree: string | null
  contextWindow: number | null
  contextThreshold: number
  structuredOutput: boolean
  /** The agent's own command for compaction; null if it has none. */
  compactPrompt: string | null
}

export interface AttemptTexts {
  prompt: string[]
  /** The texts of the prompt that Reprise added. */
  added: string[]
  sent: Sent
  beforeLaunch: Brief['beforeLaunch']
}

export async function composeTexts(input: TextsInput): Promise<AttemptTexts> {
  const { context, decided, promptRecorded } = input
  const { decision, kind } = decided
  const { run, session } = context
  const standing = session ? standingOf(session, context.standingHash) : 'changed'
  const { structuredOutput } = input
  const { texts: added, beforeLaunch } = await context.readBrief({ decision, standing, structuredOutput })
  const besides = [run.prompt, ...added.brief, ...added.standing, added.handoff ?? '']
  const room = roomForPast({
    window: input.contextWindow,
    threshold: input.contextThreshold,
    besides: besides.reduce((sum, part) => sum + estimateTokens(part), 0),
    held: decision.kind === 'resume' ? (session?.contextTokens ?? 0) : 0,
  })
  const text = {
    prompt: run.prompt,
    turns: context.turns,
    catchUp: context.catchUp,
    room,
    interruption: toInterruption(input.earlier, promptRecorded),
    standing,
    task: context.task,
    said: input.said,
    roomMade: decided.roomMade && promptRecorded,
    workTree: input.workTree,
    added,
  }
  // The full history is read only if it is sent.
  const past = sendsPast(decided, context) ? await context.readWhole(room * CHARS_PER_TOKEN) : {}
  const {
    texts: prompt,
    added: told,
    leftOut,
  } = kind === 'compact' && input.compactPrompt !== null
    ? { texts: [input.compactPrompt], added: [], leftOut: null }
    : composePrompt({ decision, ...text, ...past })
  const { texts: whole } = composePrompt({
    decision: { kind: 'fresh', reason: 'forced', carry: 'transcript' },
    ...text,
  })
  return {
    prompt,
    added: told,
    sent: {
      promptChars: lengthOf(prompt),
      transcriptChars: Math.max(lengthOf(whole), decision.kind === 'fresh' ? lengthOf(prompt) : 0),
      leftOut,
    },
    beforeLaunch: kind === 'turn' ? beforeLaunch : undefined,
  }
}

/** Whether history is sent with the prompt. */
const sendsPast = ({ decision }: AttemptDecision, { catchUp }: RunContext) =>
  decision.kind === 'fresh' ? decision.carry !== 'none' : catchUp.length > 0

const lengthOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0)
