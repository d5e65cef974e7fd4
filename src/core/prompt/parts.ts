/** Building blocks of prompts: asides of Reprise, quoted and clipped texts. */

export const aside = (text: string) => `<reprise>\n${text}\n</reprise>`

/**
 * Splits a prompt that begins with asides of Reprise (a follow-up's, for instance) into the asides and the text after
 * them.
 */
export function splitAsides(prompt: string): string[] {
  const asides: string[] = []
  let rest = prompt
  for (let found = LEADING_ASIDE.exec(rest); found; found = LEADING_ASIDE.exec(rest)) {
    asides.push(found[1] ?? '')
    rest = rest.slice(found[0].length)
  }
  return [...asides, rest]
}

const LEADING_ASIDE = /^(<reprise>\n[\s\S]*?\n<\/reprise>)\n\n(?=\S)/

/** Escapes tags, so that a quoted text cannot close the element that contains it. */
export const quoted = (text: string) =>
  text.replace(/<(?=\/?(?:reprise|user|assistant|instructions|task|said|output)\b)/g, '&lt;')

export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`
}
