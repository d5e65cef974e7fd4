/**
 * The facts about a Messages API request that rules and records need: what the user typed, which tool results came
 * back, what the request is for.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isCutNote, kindOf, ownTexts, sessionIdOf } from './claude-code.ts'
import type { Block, Message, MessagesBody } from './messages-body.ts'
import { blocksOf, textOf } from './messages-body.ts'
import type { RequestKind } from './scenario-types.ts'

export interface ToolResult {
  toolUseId: string
  /** The tool's name, if the request contains the call that it answers. */
  tool: string | undefined
  text: string
  isError: boolean
}

export interface MessagesRequest {
  body: MessagesBody
  kind: RequestKind
  /** The newest text that the user typed, without what the CLI wraps around it. */
  userText: string
  /** False if the newest user message contains only tool results: the turn is already in progress. */
  startsTurn: boolean
  /** The CLI asks to continue a reply that broke off. */
  resumesCut: boolean
  /** The tool results in the newest user message. */
  toolResults: ToolResult[]
  systemText: string
  toolNames: string[]
  /** All text in system and messages, for `contains`. */
  allText: string
  sessionId: string | undefined
}

export function readMessagesRequest(body: MessagesBody, headers: IncomingHttpHeaders): MessagesRequest {
  const newest = body.messages.findLast((message) => message.role === 'user')
  const newestBlocks = newest ? blocksOf(newest.content) : []
  const toolResults = toolResultsOf(newestBlocks, body.messages)
  const systemText = blocksOf(body.system ?? '')
    .map(textOf)
    .join('\n')
  const said = ownTexts(body.messages)
  return {
    body,
    kind: kindOf(body, headers, systemText, newestBlocks),
    userText: said.at(-1) ?? '',
    startsTurn: toolResults.length === 0 || (newest !== undefined && ownTexts([newest]).length > 0),
    resumesCut: newestBlocks.some(isCutNote),
    toolResults,
    systemText,
    toolNames: (body.tools ?? []).flatMap((tool) => tool.name ?? []),
    allText: [systemText, ...body.messages.flatMap((message) => blocksOf(message.content).map(textOf))].join(
      '\n',
    ),
    sessionId: sessionIdOf(body, headers),
  }
}

function toolResultsOf(newest: Block[], messages: Message[]): ToolResult[] {
  const results = newest.filter((part) => part.type === 'tool_result')
  if (results.length === 0) return []
  const names = new Map<unknown, unknown>()
  for (const message of messages) {
    for (const part of blocksOf(message.content)) {
      if (part.type === 'tool_use') names.set(part.id, part.name)
    }
  }
  return results.map((part) => {
    const name = names.get(part.tool_use_id)
    return {
      toolUseId: String(part.tool_use_id),
      tool: typeof name === 'string' ? name : undefined,
      text: textOf(part),
      isError: part.is_error === true,
    }
  })
}
