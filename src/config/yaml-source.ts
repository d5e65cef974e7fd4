/** Reads a settings file. A missing file is not a problem; one that cannot be read or parsed is. */
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { examineUntrustedSync } from '../files/untrusted.ts'
import type { ConfigProblem, SettingPath } from './problem.ts'
import type { Place, Source } from './source.ts'

const LARGEST_BYTES = 1024 * 1024

export function readYamlSource(file: string): Source | ConfigProblem[] | undefined {
  const text = readSettingsFile(file)
  return typeof text === 'string' ? parseYamlSource(file, text) : text
}

export function parseYamlSource(file: string, text: string): Source | ConfigProblem[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { source: file, line, column: col }
  }
  if (document.errors.length > 0) {
    return document.errors.map(({ pos, message }) => ({
      ...at(pos[0]),
      key: '',
      message: `is not valid YAML: ${message}`,
    }))
  }
  try {
    const value = withoutNulls(document.toJS()) ?? {}
    return { name: file, value, locate: (path) => placeOf(document, path, at) ?? { source: file } }
  } catch (error) {
    // Too many aliases: a small file could expand to gigabytes.
    return [{ source: file, key: '', message: `cannot be used: ${(error as Error).message}` }]
  }
}

/** undefined: there is no such file. */
export function readSettingsFile(file: string): string | ConfigProblem[] | undefined {
  const read = examineUntrustedSync(file, { maxBytes: LARGEST_BYTES, followLink: true })
  if (read.kind === 'file') return read.bytes.toString('utf8')
  if (read.kind === 'missing') return undefined
  return [{ source: file, key: '', message: read.kind === 'folder' ? 'is not a file' : read.why }]
}

/** A key without a value counts as not set, so that a section whose lines are all commented out is valid. */
function withoutNulls(value: unknown): unknown {
  if (value === null) return undefined
  if (Array.isArray(value) || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value as object)
      .map(([key, inner]) => [key, withoutNulls(inner)] as const)
      .filter(([, inner]) => inner !== undefined),
  )
}

/** The place of the key or item; if it is missing, that of the enclosing key. */
function placeOf(document: Document, path: SettingPath, at: (offset: number) => Place): Place | undefined {
  let node: unknown = document.contents
  let place = isNode(node) && node.range ? at(node.range[0]) : undefined
  for (const part of path) {
    if (isSeq(node)) {
      node = node.items[Number(part)]
      if (isNode(node) && node.range) place = at(node.range[0])
    } else if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
      if (!pair || !isNode(pair.key) || !pair.key.range) return place
      place = at(pair.key.range[0])
      node = pair.value
    } else return place
  }
  return place
}
