/** A tool call as one line, with its input and output on demand; edits show their differences. */

import { memo, useMemo, useState } from 'react'
import { inert, resultText } from '../format/text.ts'
import { formatSpan } from '../format/time.ts'
import { Middle } from '../parts/base.tsx'
import { Elapsed } from '../parts/clock.tsx'
import { Code } from './code.tsx'
import { Counts, EditDiff } from './diff.tsx'
import { countEdits, type Edit, editsOf } from './edits.ts'
import { languageOfPath } from './highlight.ts'
import type { ToolItem } from './items.ts'

const field = (input: unknown, name: string): string | null => {
  const value =
    typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : null
}

export const ToolLine = memo(function ToolLine({ tool, live }: { tool: ToolItem; live: boolean }) {
  const [open, setOpen] = useState(false)
  const edits = useMemo(() => (tool.toolKind === 'write' ? editsOf(tool.input) : []), [tool])
  const counts = useMemo(() => countEdits(edits), [edits])
  const running = live && tool.result === null && tool.endedAt === null
  return (
    <div className={tool.nested ? 'ml-5 border-l border-line pl-2' : ''}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="group flex min-h-7 w-full items-center gap-2 rounded-md px-2 text-left text-small hover:bg-raised"
      >
        <span
          aria-hidden="true"
          className={`text-muted motion-safe:transition-transform ${open ? 'rotate-90' : ''}`}
        >
          ▸
        </span>
        <span className="shrink-0 font-medium">{inert(tool.name)}</span>
        <span className="min-w-0 flex-1 truncate text-muted">
          <Middle text={tool.about} max={110} mono />
        </span>
        {counts && <Counts {...counts} />}
        <Outcome tool={tool} running={running} />
      </button>
      {open && <ToolBody tool={tool} edits={edits} />}
    </div>
  )
})

function Outcome({ tool, running }: { tool: ToolItem; running: boolean }) {
  const { result, startedAt, endedAt } = tool
  if (running && startedAt) {
    return (
      <span className="shrink-0 text-accent">
        ● <Elapsed from={startedAt} />
      </span>
    )
  }
  const took = startedAt && endedAt && result ? formatSpan(Date.parse(endedAt) - Date.parse(startedAt)) : null
  if (result === null) return <span className="shrink-0 text-muted">outcome unknown</span>
  const exit = result.isError
    ? /exit code (\d+)/i.exec(resultText(result.content).slice(0, 200))?.[1]
    : undefined
  return (
    <span className={`shrink-0 whitespace-nowrap ${result.isError ? 'text-fail' : 'text-ok'}`}>
      {result.isError ? `✕ ${exit ? `exit ${exit}` : 'error'}` : '✓'}
      <span className="sr-only">{result.isError ? '' : 'done'}</span>
      {took && <span className="ml-1.5 text-muted">{took}</span>}
    </span>
  )
}

function ToolBody({ tool, edits }: { tool: ToolItem; edits: readonly Edit[] }) {
  const { input, result } = tool
  const command = field(input, 'command')
  const content = tool.toolKind === 'write' ? field(input, 'content') : null
  const path = field(input, 'file_path') ?? field(input, 'path') ?? ''
  const output = result ? resultText(result.content) : ''
  return (
    <div className="mt-1 mb-2 ml-6 flex flex-col gap-2">
      {edits.length > 0 ? (
        edits.map((edit, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the edits of one call do not change.
          <EditDiff key={index} edit={edit} />
        ))
      ) : command !== null ? (
        <Code code={command} language="bash" />
      ) : content !== null ? (
        <Code code={content} language={languageOfPath(path)} />
      ) : (
        <Code code={JSON.stringify(input, null, 2) ?? ''} language="json" />
      )}
      {output !== '' && (edits.length === 0 || result?.isError) && (
        <div>
          <p className="mb-0.5 text-label text-muted">output</p>
          <Code code={output} language={null} />
        </div>
      )}
      {result?.clipped ? (
        <p className="text-label text-muted">
          {result.clipped} characters of the output are in the events of the run.
        </p>
      ) : null}
    </div>
  )
}
