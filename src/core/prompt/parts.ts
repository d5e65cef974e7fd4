/** What the texts of a prompt are made of. */

export const aside = (text: string) => `<reprise>\n${text}\n</reprise>`

/** What somebody said must not be able to end the part in which it is quoted. */
export const quoted = (text: string) =>
  text.replace(/<(?=\/?(?:reprise|user|assistant|instructions|said)\b)/g, '&lt;')

export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`
}
