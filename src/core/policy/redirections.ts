/** What redirections open, and what a command reads because of them. */
import type { HereDoc, Redirection } from 'unbash'
import { type Redirect, UNKNOWN } from './command.ts'
import { type Expander, expandText, expandWords } from './expand.ts'
import type { Look } from './look.ts'
import type { Input } from './scope.ts'

const COPIES = /^[<>]&/

export function readRedirections(
  list: readonly Redirection[],
  expander: Expander,
  walker: Pick<Look, 'giveUp'>,
): { redirects: Redirect[]; input: Input | undefined } {
  const redirects: Redirect[] = []
  let input: Input | undefined
  for (const redirection of list) {
    if (redirection.type === 'HereDoc') {
      input = hereDoc(redirection, expander)
      continue
    }
    if (!redirection.target) continue
    const fields = expandWords([redirection.target], expander).flat()
    if (redirection.type === 'HereString') {
      const [only] = fields
      input =
        fields.length === 1 && only && !only.unknown ? { kind: 'text', text: only.text } : { kind: 'unknown' }
      continue
    }
    const { operator, descriptor } = redirection
    // For bash `>&-x` closes, and x is a word of its own.
    if (COPIES.test(operator) && /^-./s.test(redirection.target.value))
      walker.giveUp('it has a word right behind <&- or >&-')
    const intoStdin = descriptor?.type === 'FileDescriptor' && descriptor.value === 0
    for (const target of fields) {
      // `<&3`, `0>&3`: what was opened there.
      if ((operator === '<&' || intoStdin) && target.text !== '-') input = { kind: 'unknown' }
      if (operator === '<>') input = { kind: 'unknown' }
      // `2>&1` copies a descriptor.
      if (COPIES.test(operator) && /^(\d+-?|-)$/.test(target.text)) continue
      if (operator === '<' && target.text === '/dev/null') input = { kind: 'text', text: '' }
      else if (operator === '<' || operator === '<&') {
        input = { kind: 'unknown' }
        redirects.push({ target, writes: false })
      } else redirects.push({ target, writes: true })
    }
  }
  return { redirects, input }
}

function hereDoc(document: HereDoc, expander: Expander): Input {
  const { parts } = document.body
  if (document.delimiter?.quoted || !parts) return { kind: 'text', text: writtenIn(document) }
  const [field, ...others] = expandText(parts, expander)
  if (!field || others.length > 0) return { kind: 'unknown' }
  return { kind: 'text', text: field.text.replaceAll(UNKNOWN, '$__unknown__') }
}

/** The text of a here-document in which nothing is substituted. */
export const writtenIn = ({ delimiter, body }: HereDoc) =>
  delimiter?.quoted ? body.text : body.text.replaceAll(/\\(?:\n|([\\$`]))/g, '$1')
