/** Answers requests that the CLI makes on the side, if no rule asks for them by `kind`. */

import { ownTexts } from './claude-code.ts'
import type { MessagesRequest } from './messages-request.ts'
import type { Step } from './scenario-types.ts'

export function sideReply(request: MessagesRequest): Step[] {
  const schema = request.body.output_config?.format?.schema
  if (schema !== undefined) return [text(JSON.stringify(exampleOf(schema)))]
  if (request.kind === 'compact') return [text(summaryOf(request))]
  if (request.kind === 'title') return [text('Simulated session')]
  return [text('OK')]
}

// Without the tags, Claude Code 2.1.325 asks a second time.
function summaryOf(request: MessagesRequest): string {
  const said = ownTexts(request.body.messages)
    .slice(-10)
    .map((userText) => `    - ${userText.replace(/\s+/g, ' ').slice(0, 200)}`)
  return [
    '<analysis>\nThe simulator summarises by listing what the user wrote.\n</analysis>\n',
    '<summary>',
    `1. Primary Request and Intent:\n   A conversation of ${request.body.messages.length} messages with the simulator.`,
    `6. All user messages:\n${said.join('\n')}`,
    '</summary>',
  ].join('\n')
}

/** A small value that is valid for a JSON Schema of the kind that side requests have. */
export function exampleOf(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return {}
  const {
    type,
    enum: choices,
    const: constant,
    properties,
    required,
    items,
    anyOf,
  } = schema as Record<string, unknown>
  if (constant !== undefined) return constant
  if (Array.isArray(choices)) return choices[0]
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0])
  const kind = Array.isArray(type) ? type[0] : type
  if (kind === 'string') return 'Simulated'
  if (kind === 'boolean') return true
  if (kind === 'number' || kind === 'integer') return 0
  if (kind === 'null') return null
  if (kind === 'array') return items === undefined ? [] : [exampleOf(items)]
  const needed = Array.isArray(required) ? required : Object.keys((properties as object | undefined) ?? {})
  const known = (properties ?? {}) as Record<string, unknown>
  return Object.fromEntries(needed.map((key: string) => [key, exampleOf(known[key])]))
}

function text(value: string): Step {
  // The scenario's placeholders do not apply here, but a summary may quote some.
  return { do: 'text', text: value.replaceAll('${', '$${'), paceMs: 0 }
}
