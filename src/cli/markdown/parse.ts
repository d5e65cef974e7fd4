/**
 * Parses what is inside a line of Markdown, and tables. The blocks that begin a line (headings, lists, quotes, code) are found
 * by printer.ts, a line at a time, so they are switched off here; so is HTML, and so are definitions of links, which would
 * be left out: what an agent wrote is always shown.
 */
import type { Nodes, PhrasingContent, Root, Table } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmTable } from 'micromark-extension-gfm-table'
import type { Style } from '../terminal/terminal.ts'
import type { Span } from './wrap.ts'

const BLOCKS = [
  'blockQuote',
  'codeFenced',
  'codeIndented',
  'definition',
  'headingAtx',
  'htmlFlow',
  'htmlText',
  'list',
  'setextUnderline',
  'thematicBreak',
]

const withoutBlocks = { disable: { null: BLOCKS } }

const parse = (text: string): Root => fromMarkdown(text, { extensions: [withoutBlocks] })

type Paint = (text: string) => string

/** The spans of a text. Without colours, the marks stay that a style would replace. `paint` applies to all of it. */
export function parseInline(text: string, style: Style, paint: Paint): Span[] {
  return parse(text).children.flatMap((block, index) => [
    ...(index === 0 ? [] : [{ text: '\n', paint }]),
    ...('children' in block ? spansOf(block.children as PhrasingContent[], style, paint) : []),
  ])
}

/** The table that the text consists of, or null if it is none. */
export function parseTable(text: string): Table | null {
  const [table, ...others] = fromMarkdown(text, {
    extensions: [withoutBlocks, gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  }).children
  return table?.type === 'table' && others.length === 0 ? table : null
}

export function spansOf(nodes: readonly PhrasingContent[], style: Style, paint: Paint): Span[] {
  const marked = (mark: string, add: Paint, children: readonly PhrasingContent[]): Span[] => {
    const inner: Paint = (text) => add(paint(text))
    const ends = style.coloured ? [] : [{ text: mark, paint }]
    return [...ends, ...spansOf(children, style, inner), ...ends]
  }
  return nodes.flatMap((node): Span[] => {
    switch (node.type) {
      case 'text':
        return [{ text: style.safe(node.value), paint }]
      case 'strong':
        return marked('**', style.bold, node.children)
      case 'emphasis':
        return marked('*', style.italic, node.children)
      case 'inlineCode':
        return marked('`', style.cyan, [{ type: 'text', value: node.value }])
      case 'break':
        return [{ text: '\n', paint }]
      case 'link':
        return withAddress(spansOf(node.children, style, paint), node.url, style, paint)
      case 'image':
        return withAddress([{ text: style.safe(node.alt ?? ''), paint }], node.url, style, paint)
      default:
        return 'value' in node ? [{ text: style.safe(node.value), paint }] : []
    }
  })
}

/** The address is always shown, so that a text cannot hide where it leads. */
function withAddress(spans: Span[], url: string, style: Style, paint: Paint): Span[] {
  const address = style.safe(url)
  const text = spans.map((span) => span.text).join('')
  if (text === address || `mailto:${text}` === address) return spans
  return [...spans, { text: `${text === '' ? '' : ' '}(${address})`, paint }]
}

/**
 * A mark whose counterpart may still come, in text that ends before a space. Stars between spaces, underscores within words and
 * closed brackets without an address are no marks.
 */
const MARK = /(?<!\\)(?:\*(?!\s|$)|(?<=\S)\*|(?<!\w)_|_(?!\w)|`|\[(?![^\]]*\](?!\()))/

/**
 * Where in the text a mark begins that the text does not close, or null. What is before it stays the same, whatever
 * follows.
 */
export function findOpenMark(text: string): number | null {
  for (const block of parse(text).children) {
    for (const node of 'children' in block ? block.children : []) {
      const { start, end } = node.position ?? {}
      if (start?.offset === undefined || end?.offset === undefined) continue
      const at = text.slice(start.offset, end.offset).search(MARK)
      if (node.type === 'text' ? at !== -1 : hasMark(node)) return start.offset + Math.max(0, at)
    }
  }
  return null
}

const hasMark = (node: Nodes): boolean =>
  node.type === 'text' ? MARK.test(node.value) : 'children' in node && node.children.some(hasMark)
