/** Code, coloured once its language is there; the size does not change when the colours come. */
import { Fragment, useEffect, useState } from 'react'
import type { ThemedToken } from 'shiki/core'
import { formatCount } from '../format/amounts.ts'
import { clip, inert } from '../format/text.ts'
import { highlight } from './highlight.ts'

export function Code({
  code,
  language,
  maxHeight = true,
}: {
  code: string
  language: string | null
  maxHeight?: boolean
}) {
  const [whole, setWhole] = useState(false)
  const { text, rest } = clip(inert(code), whole ? 2_000_000 : undefined)
  const tokens = useTokens(text, language)
  return (
    <div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
        dir="ltr"
        className={`overflow-auto rounded-md bg-code px-3 py-2 leading-[1.5] whitespace-pre ${maxHeight ? 'max-h-96' : ''}`}
      >
        <code>{tokens ? <Tokens lines={tokens} /> : text}</code>
      </pre>
      {rest > 0 && (
        <button
          type="button"
          className="mt-1 text-small text-accent underline"
          onClick={() => setWhole(true)}
        >
          Show {formatCount(rest)} more characters
        </button>
      )}
    </div>
  )
}

function Tokens({ lines }: { lines: readonly ThemedToken[][] }) {
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
    <Fragment key={index}>
      {line.map((token) => (
        <span key={token.offset} style={{ color: token.color }}>
          {token.content}
        </span>
      ))}
      {index < lines.length - 1 ? '\n' : ''}
    </Fragment>
  ))
}

function useTokens(code: string, language: string | null): ThemedToken[][] | null {
  const [tokens, setTokens] = useState<{ code: string; lines: ThemedToken[][] } | null>(null)
  useEffect(() => {
    if (language === null) return
    let current = true
    highlight(code, language)
      .then((lines) => {
        if (current && lines) setTokens({ code, lines })
      })
      .catch(() => {})
    return () => {
      current = false
    }
  }, [code, language])
  return tokens?.code === code ? tokens.lines : null
}
