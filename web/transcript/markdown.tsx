/**
 * Markdown of models. It is hostile: HTML is shown as text, links have only harmless schemes and open elsewhere without
 * telling where from, and images are named instead of loaded.
 */
import { type ComponentProps, memo, useState } from 'react'
import ReactMarkdown from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { formatCount } from '../format/amounts.ts'
import { clip, inert } from '../format/text.ts'
import { Code } from './code.tsx'
import { languageOf } from './highlight.ts'
import { splitMarkdown } from './split-markdown.ts'

const SCHEMA = {
  ...defaultSchema,
  protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'] },
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['input', 'picture', 'source'].includes(name)),
}

const SAFE_LINK = /^(?:https?:|mailto:)/i

const COMPONENTS: ComponentProps<typeof ReactMarkdown>['components'] = {
  a: ({ href, children }) =>
    href && SAFE_LINK.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={inert(href)}>
        {children}
      </a>
    ) : (
      <span title={href ? inert(href) : undefined}>{children}</span>
    ),
  img: ({ alt, src }) => (
    <span
      className="rounded bg-code px-1 text-muted"
      title={typeof src === 'string' ? inert(src) : undefined}
    >
      [image{alt ? `: ${inert(alt)}` : ''}]
    </span>
  ),
  pre: ({ children }) => children,
  code: ({ className, children }) => {
    const text = String(children ?? '')
    const language = /language-(\S+)/.exec(className ?? '')?.[1]
    const isBlock = language !== undefined || text.includes('\n')
    return isBlock ? (
      <Code code={text.replace(/\n$/, '')} language={languageOf(language)} />
    ) : (
      <code>{inert(text)}</code>
    )
  },
}

/** Longer texts would take seconds to parse. */
const MAX_MARKDOWN_CHARS = 200_000
/** Longer texts are parsed in parts, so that a text that grows is not parsed from its beginning for each word. */
const MAX_WHOLE_CHARS = 4000

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (text.length > MAX_MARKDOWN_CHARS) return <LongText text={text} />
  const parts = text.length > MAX_WHOLE_CHARS ? splitMarkdown(text) : [text]
  return (
    <div className="prose" dir="auto">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text only grows at its end.
        <Part key={index} text={part} />
      ))}
    </div>
  )
})

const Part = memo(function Part({ text }: { text: string }) {
  return (
    <ReactMarkdown
      remarkPlugins={[remarkGfm]}
      rehypePlugins={[[rehypeSanitize, SCHEMA]]}
      components={COMPONENTS}
      urlTransform={(url) => (SAFE_LINK.test(url) ? url : '')}
    >
      {inert(text)}
    </ReactMarkdown>
  )
})

function LongText({ text }: { text: string }) {
  const [shown, setShown] = useState(20_000)
  const { text: part, rest } = clip(inert(text), shown)
  return (
    <div>
      <pre className="overflow-x-auto whitespace-pre-wrap break-all">{part}</pre>
      {rest > 0 && (
        <button type="button" className="text-accent underline" onClick={() => setShown(shown * 4)}>
          {formatCount(rest)} more characters; show more
        </button>
      )}
    </div>
  )
}
