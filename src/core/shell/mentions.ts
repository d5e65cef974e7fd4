/** Whether a text that cannot be read speaks of something that a rule forbids or counts. */

export interface Mention {
  /** The pattern, as configured. */
  source: string
  rule: string
  words: readonly RegExp[]
}

/** Programs that take the words of docker and do what it does. */
const DOCKERS = ['docker', 'podman', 'nerdctl']

/** null: one word alone says too little. */
export function compileMention(source: string, rule: string): Mention | null {
  const words = source.split(/\s+/).filter((word) => word !== '' && !/[*?{]/.test(word))
  if (words.length < 2) return null
  return {
    source,
    rule,
    words: words.map((word) => (DOCKERS.includes(word) ? anyOf(DOCKERS) : anyOf([word]))),
  }
}

function anyOf(words: readonly string[]): RegExp {
  const escaped = words.map((word) => word.replaceAll(/[^\w]/g, '\\$&'))
  return new RegExp(`(?<![\\w-])(${escaped.join('|')})(?![\\w-])`)
}

/** The first pattern all of whose words are in the text, also if quotes or backslashes are inside of them. */
export function findMention(text: string, mentions: readonly Mention[]): Mention | undefined {
  const texts = [text, text.replaceAll(/\\\n|["'\\]/g, '')]
  return mentions.find(({ words }) => texts.some((one) => words.every((word) => word.test(one))))
}
