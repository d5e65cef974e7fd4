/** What Reprise told an agent besides its prompt: instructions, handoffs, earlier messages. Folded, one line for each text. */
import { inert } from '../format/text.ts'

/** The tags mark the text for the model. */
const withoutTags = (text: string) => text.replaceAll(/^\s*<\/?\w+>\n?|\n?<\/\w+>\s*$/g, '').trim()

const firstLine = (text: string) => text.split('\n', 1)[0]?.slice(0, 300) ?? ''

export function Told({ texts }: { texts: readonly string[] }) {
  return (
    <>
      {texts.map((text) => {
        const plain = inert(withoutTags(text))
        return (
          <details key={text.slice(0, 500)} className="py-0.5 text-small text-muted">
            <summary className="truncate">
              <span className="font-medium">told:</span> {firstLine(plain)}
            </summary>
            <pre className="mt-1 max-h-96 overflow-auto rounded-md bg-code p-2 break-words whitespace-pre-wrap text-text">
              {plain}
            </pre>
          </details>
        )
      })}
    </>
  )
}
