/** The body of a Messages API request, validated loosely: the real API accepts more than the simulator needs. */
import { z } from 'zod'

const block = z.looseObject({ type: z.string() })
const content = z.union([z.string(), z.array(block)])

export const messagesBodySchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content })).min(1),
  system: content.optional(),
  tools: z.array(z.looseObject({ name: z.string().optional() })).optional(),
  max_tokens: z.number().optional(),
  stream: z.boolean().optional(),
  output_config: z
    .looseObject({ format: z.looseObject({ schema: z.unknown() }).optional().nullable() })
    .optional(),
})

export type MessagesBody = z.infer<typeof messagesBodySchema>
export type Block = z.infer<typeof block>
export type Message = MessagesBody['messages'][number]

/** The API treats a plain string and a single text block alike. */
export function blocksOf(value: string | Block[]): Block[] {
  return typeof value === 'string' ? [{ type: 'text', text: value }] : value
}

export function textOf(value: Block): string {
  if (typeof value.text === 'string') return value.text
  if (typeof value.thinking === 'string') return value.thinking
  if (value.type === 'tool_use') return `${String(value.name)} ${JSON.stringify(value.input)}`
  if (value.type === 'tool_result') {
    const inner = content.safeParse(value.content)
    return inner.success ? blocksOf(inner.data).map(textOf).join('\n') : ''
  }
  return ''
}
