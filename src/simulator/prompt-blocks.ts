/**
 * A request as the prompt that the model would read: blocks in the order tools, system, messages, each with its size in
 * tokens and its identity. Token counts and the prompt cache are both computed from this one list, so they agree.
 */

import { z } from 'zod'
import type { Block, MessagesBody } from './messages-body.ts'
import { blocksOf, textOf } from './messages-body.ts'

export interface PromptBlock {
  /** The content of the block as one string; equal content means equal identity, wherever `cache_control` is. */
  identity: string
  tokens: number
  breakpoint: '5m' | '1h' | undefined
}

export function promptBlocks(body: Pick<MessagesBody, 'tools' | 'system' | 'messages'>): PromptBlock[] {
  const tools = (body.tools ?? []).map((tool) => promptBlock('tool', tool))
  const system = blocksOf(body.system ?? '')
    .filter((part) => !isBillingNote(part))
    .map((part) => promptBlock('system', part))
  // The role is part of each block instead of a frame around a message, because the API joins neighbours of one role.
  const messages = body.messages.flatMap((message) =>
    blocksOf(message.content).map((part) => promptBlock(`message:${message.role}`, part)),
  )
  return [...tools, ...system, ...messages].filter((part) => part.tokens > 0)
}

export function countTokens(blocks: readonly PromptBlock[]): number {
  return blocks.reduce((sum, part) => sum + part.tokens, 0)
}

/** About four characters a token, which is close enough for English and code to make costs plausible. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4)
}

const IMAGE_TOKENS = 1500

function promptBlock(place: string, part: object): PromptBlock {
  const plain = withoutCacheControl(part)
  return {
    identity: `${place} ${JSON.stringify(plain)}`,
    tokens: sizeOf(plain),
    breakpoint: breakpointOf(part),
  }
}

const cacheControl = z.looseObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).default('5m') })

function breakpointOf(part: object): '5m' | '1h' | undefined {
  return cacheControl.safeParse((part as Record<string, unknown>).cache_control).data?.ttl
}

function sizeOf(part: object): number {
  const { type } = part as { type?: string }
  if (type === 'text' || type === 'thinking') return tokensOf(textOf(part as Block))
  if (type === 'image' || type === 'document') return IMAGE_TOKENS
  const nested = (part as { content?: unknown }).content
  if (type === 'tool_result' && Array.isArray(nested)) {
    return nested.reduce((sum: number, inner: object) => sum + sizeOf(inner), tokensOf('tool_result'))
  }
  return tokensOf(JSON.stringify(part))
}

function withoutCacheControl(part: object): object {
  const { cache_control: _, ...rest } = part as Record<string, unknown>
  if (rest.type === 'tool_result' && Array.isArray(rest.content)) {
    rest.content = rest.content.map((inner: object) => withoutCacheControl(inner))
  }
  return rest
}

/** Claude Code puts this billing line first; it changes from request to request and is not part of the prompt. */
function isBillingNote(part: Block): boolean {
  return textOf(part).startsWith('x-anthropic-billing-header:')
}
