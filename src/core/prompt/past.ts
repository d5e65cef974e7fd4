/** Earlier turns and steps as sections whose pieces can be shortened one by one, and their text for a new session. */
import type { MessageOrigin } from '../../contract/conversation.ts'
import type { Piece, Section } from './fit.ts'
import { quoted } from './parts.ts'

export type PastPart =
  | { kind: 'text'; text: string }
  | {
      kind: 'tool'
      name: string
      input: string
      /** How the call ended; empty if it succeeded. */
      ending: string
      output: string
      /** How many characters of the output were not stored. */
      missing?: number
    }

export interface PastTurn {
  /** Counted from 1. */
  turn?: number
  prompt: string
  /** What the agent said and did; null if there is no answer. */
  answer: readonly PastPart[] | null
  /** How the turn ended, if it did not complete. */
  ending?: string
  /** The agent that answered, if several agents take part. */
  agent?: string
  /** Where the turn took place, if not in Reprise. */
  origin?: MessageOrigin
}

const SAID_ELSEWHERE = {
  outside: 'The following was said in your session outside Reprise.',
  'outside-branch':
    'The following was said outside Reprise, on another branch of your session: what is above it here may not have been known there.',
} as const

/** A turn with the user's message and the agent's answer. */
export function sectionOfTurn({ turn = 0, prompt, answer, ending, agent, origin }: PastTurn): Section {
  const parts = answer ?? []
  return {
    what: 'turn',
    turn: turn || null,
    pieces: [{ what: 'message', text: prompt }, ...parts.flatMap(piecesOf)],
    assemble: ([asked = '', ...texts]) => {
      const said = assembleParts(parts, texts, inBrackets).join('\n')
      return [
        origin && origin !== 'reprise' ? `(${SAID_ELSEWHERE[origin]})` : '',
        asked === '' ? '' : `<user>\n${quoted(asked)}\n</user>`,
        answer === null
          ? ''
          : `<assistant${agent ? ` agent="${agent}"` : ''}>\n${quoted(said)}\n</assistant>`,
        ending ? `(${ending})` : '',
      ]
        .filter(Boolean)
        .join('\n')
    },
  }
}

/** A step of interrupted work: a text of the agent, or a tool call. */
export function sectionOfStep(part: PastPart): Section {
  return {
    what: 'step',
    turn: null,
    pieces: piecesOf(part),
    assemble: (texts) => assembleParts([part], texts, asListed).join('\n'),
  }
}

function piecesOf(part: PastPart): Piece[] {
  if (part.kind === 'text') return [{ what: 'message', text: part.text }]
  const { name, input, output, missing = 0 } = part
  return [
    { what: 'tool-input', name, text: input },
    { what: 'tool-output', name, text: output, missing },
  ]
}

type Tool = Extract<PastPart, { kind: 'tool' }>
type Style = { text: (text: string) => string; tool: (tool: Tool, input: string, output: string) => string }

function assembleParts(parts: readonly PastPart[], texts: readonly string[], style: Style): string[] {
  const rest = [...texts]
  return parts.map((part) =>
    part.kind === 'text'
      ? style.text(rest.shift() ?? '')
      : style.tool(part, rest.shift() ?? '', rest.shift() ?? ''),
  )
}

const inBrackets: Style = {
  text: (text) => text,
  tool: ({ name, ending }, input, output) =>
    `[used ${name} ${input} → ${[ending, output].filter(Boolean).join(': ')}]`,
}

const asListed: Style = {
  text: (text) => `- said: <said>${quoted(text)}</said>`,
  tool: ({ name, ending }, input, output) =>
    `- ${name} ${quoted(input)}: ${ending}${output === '' ? '' : `\n<output>\n${quoted(output)}\n</output>`}`,
}

/** All parts as text, unshortened. */
export const partsText = (parts: readonly PastPart[]) =>
  assembleParts(
    parts,
    parts.flatMap(piecesOf).map(({ text }) => text),
    inBrackets,
  ).join('\n')
