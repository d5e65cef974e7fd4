/** Differences, line by line: of an edit, or of a patch of git. */
import { parsePatch, type StructuredPatchHunk } from 'diff'
import { memo, useMemo, useState } from 'react'
import { formatCount } from '../format/amounts.ts'
import { inert } from '../format/text.ts'
import { Code } from './code.tsx'
import { compare, countOf, type Edit, type LineCounts } from './edits.ts'

const MAX_LINES = 400
const MAX_LINE_CHARS = 2000

export function Counts({ added, removed }: LineCounts) {
  return (
    <span className="font-mono text-small whitespace-nowrap">
      <span className="text-ok">+{formatCount(added)}</span>{' '}
      <span className="text-fail">−{formatCount(removed)}</span>
    </span>
  )
}

/** Both texts, if there are too many differences to find them line by line. */
export const EditDiff = memo(function EditDiff({ edit }: { edit: Edit }) {
  const hunks = useMemo(() => compare(edit), [edit])
  if (hunks !== null) return <Hunks hunks={hunks} />
  return (
    <>
      <p className="text-label text-muted">There are too many differences to show them line by line.</p>
      <Side name="before" text={edit.before} />
      <Side name="after" text={edit.after} />
    </>
  )
})

function Side({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <p className="mb-0.5 text-label text-muted">{name}</p>
      <Code code={text} language={null} />
    </div>
  )
}

export function Hunks({ hunks }: { hunks: readonly StructuredPatchHunk[] }) {
  const [whole, setWhole] = useState(false)
  const lines = hunks.flatMap((hunk, index) => linesOf(hunk, index))
  const shown = whole ? lines : lines.slice(0, MAX_LINES)
  return (
    <div className="overflow-x-auto rounded-md bg-code py-1 font-mono text-small leading-[1.5]" dir="ltr">
      <table className="w-full border-collapse">
        <tbody>
          {shown.map(({ key, mark, text, before, after }) => (
            <tr
              key={key}
              className={
                mark === '+' ? 'bg-ok-soft' : mark === '-' ? 'bg-fail-soft' : mark === '@' ? 'text-muted' : ''
              }
            >
              <td className="w-9 pr-1 text-right text-muted select-none">{before}</td>
              <td className="w-9 pr-2 text-right text-muted select-none">{after}</td>
              <td className="w-4 select-none">{mark === '@' ? '' : mark}</td>
              <td className="pr-3 whitespace-pre">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < lines.length && (
        <button type="button" className="mx-3 my-1 text-accent underline" onClick={() => setWhole(true)}>
          Show {formatCount(lines.length - shown.length)} more lines
        </button>
      )}
    </div>
  )
}

interface Line {
  key: string
  mark: string
  text: string
  before: number | null
  after: number | null
}

function linesOf(hunk: StructuredPatchHunk, index: number): Line[] {
  let before = hunk.oldStart
  let after = hunk.newStart
  const head: Line = {
    key: `${index}`,
    mark: '@',
    text: `@@ −${hunk.oldStart} +${hunk.newStart} @@`,
    before: null,
    after: null,
  }
  const lines = hunk.lines
    .filter((line) => !line.startsWith('\\'))
    .map((line, at): Line => {
      const mark = line[0] ?? ' '
      const text = inert(line.slice(1)).slice(0, MAX_LINE_CHARS)
      const numbers = { before: mark === '+' ? null : before, after: mark === '-' ? null : after }
      if (mark !== '+') before++
      if (mark !== '-') after++
      return { key: `${index}/${at}`, mark, text, ...numbers }
    })
  return index === 0 && hunk.oldStart <= 1 ? lines : [head, ...lines]
}

/** A patch of git, one part per file. */
export const PatchView = memo(function PatchView({ patch }: { patch: string }) {
  const files = parse(patch)
  if (files === null) return <pre className="overflow-auto rounded-md bg-code p-2">{inert(patch)}</pre>
  return (
    <div className="flex flex-col gap-2">
      {files.map(({ name, hunks }) => {
        const counts = countOf(hunks)
        return (
          <details key={name} open={files.length < 6} className="rounded-md border border-line">
            <summary className="flex items-center gap-3 px-3 py-1.5">
              <code className="min-w-0 truncate">{inert(name)}</code>
              <Counts {...counts} />
            </summary>
            {hunks.length === 0 ? (
              <p className="px-3 pb-2 text-muted">No lines to show.</p>
            ) : (
              <Hunks hunks={hunks} />
            )}
          </details>
        )
      })}
    </div>
  )
})

/** null: it cannot be read as a patch, because it is cut off, for instance. */
function parse(patch: string): { name: string; hunks: StructuredPatchHunk[] }[] | null {
  try {
    return parsePatch(patch)
      .map(({ newFileName, oldFileName, index, hunks }) => {
        const named = newFileName && newFileName !== '/dev/null' ? newFileName : (oldFileName ?? index ?? '')
        return { name: named.replace(/^[ab]\//, ''), hunks }
      })
      .filter(({ name }) => name !== '')
  } catch {
    return null
  }
}
