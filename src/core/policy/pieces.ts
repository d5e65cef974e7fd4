/** Paths that stand in a word together with something else. */
import type { Field } from './command.ts'
import { isOption } from './options.ts'

/** `--output=/x`, `-o/x`, `-ox/y`, `a:/x`. */
export function pieces(arg: Field): readonly Field[] {
  if (!mayHavePieces(arg.text)) return NOTHING
  const [, value] = /^-+[\w-]*[=:]?((?:\/|~|\.\.?\/).*)$/s.exec(arg.text) ?? []
  const parts = value === undefined ? arg.text.split(/[=:,]/).slice(1) : [value]
  if (value === undefined && /^-\w[^=]*\//.test(arg.text)) parts.push(arg.text.slice(2))
  return parts.filter((part) => part.includes('/') || part.includes('.')).map((text) => ({ ...arg, text }))
}

const NOTHING: readonly Field[] = []

/** Most words are one name, or one path: no dash before it, and nothing that sets one part apart from another. */
function mayHavePieces(text: string): boolean {
  if (isOption(text)) return true
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x3d || code === 0x3a || code === 0x2c) return true
  }
  return false
}
