/** What Reprise told an agent besides its prompt: instructions, handoffs, earlier messages. Folded, one line for each text. */
import { useState } from 'react'
import { inert } from '../format/text.ts'

/** The tags mark the text for the model. */
const withoutTags = (text: string) => text.replaceAll(/^\s*<\/?\w+>\n?|\n?<\/\w+>\s*$/g, '').trim()

const firstLine = (text: string) => inert(text.split('\n', 1)[0] ?? '').slice(0, 300)

export function Told({ texts }: { texts: readonly string[] }) {
  return texts.map((text) => <ToldText key={text.slice(0, 500)} text={withoutTags(text)} />)
}

/** The text may be long, and is drawn only while it is unfolded. */
function ToldText({ text }: { text: string }) {
  const [open, setOpen] = useState(false)
  return (
    <details className="py-0.5 text-small text-muted" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="truncate">
        <span className="font-medium">told:</span> {firstLine(text)}
      </summary>
      {open && (
        <pre className="mt-1 max-h-96 overflow-auto rounded-md bg-code p-2 break-words whitespace-pre-wrap text-text">
          {inert(text)}
        </pre>
      )}
    </details>
  )
}
