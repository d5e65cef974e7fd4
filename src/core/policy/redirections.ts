/** What redirections open, and what a command reads because of them. */
import type { HereDoc, Redirection } from 'unbash'
import { type Redirect, UNKNOWN } from './command.ts'
import { type Expander, expandText, expandWords } from './expand.ts'
import type { Input } from './scope.ts'

export function readRedirections(
  list: readonly Redirection[],
  expander: Expander,
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
    const intoStdin = descriptor?.type === 'FileDescriptor' && descriptor.value === 0
    for (const target of fields) {
      // `<&3`, `0>&3`: what was opened there.
      if ((operator === '<&' || intoStdin) && target.text !== '-') input = { kind: 'unknown' }
      if (operator === '<>') input = { kind: 'unknown' }
      // `2>&1` copies a descriptor.
      if (operator.includes('&') && !operator.startsWith('&') && /^(\d+-?|-)$/.test(target.text)) continue
      if (operator === '<' && target.text === '/dev/null') input = { kind: 'text', text: '' }
      else if (operator === '<' || operator === '<&') {
        input = { kind: 'unknown' }
        redirects.push({ target, writes: false })
      } else redirects.push({ target, writes: true })
    }
  }
  return { redirects, input }
}

function hereDoc({ delimiter, body }: HereDoc, expander: Expander): Input {
  if (delimiter?.quoted || !body.parts) return { kind: 'text', text: body.text }
  const [field, ...others] = expandText(body.parts, expander)
  if (!field || others.length > 0) return { kind: 'unknown' }
  return { kind: 'text', text: field.text.replaceAll(UNKNOWN, '$__unknown__') }
}
