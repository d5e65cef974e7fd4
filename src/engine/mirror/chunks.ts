/**
 * The files that hold the mirror of one file: `<name>.<generation>.<from>-<to>.gz`, each with the bytes from one position
 * to another, compressed. The names are the whole state; there is no index that could disagree with them.
 *
 * Invariants: a chunk appears by a rename, complete and on disk, so none is ever torn. The mirror is the chain of chunks
 * of the newest generation that begins at 0; bytes after a gap do not count. A file that was rewritten gets a new
 * generation, whose first chunk appears last, so an incomplete generation has no chain. Chunks that are covered by a
 * longer one, and older generations, are leftovers of a crash and may be deleted.
 */
export interface Chunk {
  /** The name of the file in the mirror. */
  file: string
  generation: number
  from: number
  to: number
}

export interface Chain {
  generation: number
  chunks: readonly Chunk[]
  /** The length of what is mirrored. */
  to: number
}

const DIGITS = 13
const NAME = new RegExp(`^(.+)\\.(\\d{1,9})\\.(\\d{${DIGITS}})-(\\d{${DIGITS}})\\.gz$`, 's')

export function chunkName(name: string, { generation, from, to }: Omit<Chunk, 'file'>): string {
  const padded = (position: number) => String(position).padStart(DIGITS, '0')
  return `${name}.${generation}.${padded(from)}-${padded(to)}.gz`
}

/** The chunks among the entries of a folder, by the name of the mirrored file. */
export function groupChunks(entries: readonly string[]): Map<string, Chunk[]> {
  const groups = new Map<string, Chunk[]>()
  for (const file of entries) {
    const [, name, generation, from, to] = NAME.exec(file) ?? []
    if (name === undefined || Number(from) > Number(to)) continue
    const chunk = { file, generation: Number(generation), from: Number(from), to: Number(to) }
    groups.set(name, [...(groups.get(name) ?? []), chunk])
  }
  return groups
}

/** null: nothing is mirrored. */
export function findChain(chunks: readonly Chunk[]): Chain | null {
  const generations = new Set(chunks.filter(({ from }) => from === 0).map(({ generation }) => generation))
  if (generations.size === 0) return null
  const generation = Math.max(...generations)
  const own = chunks.filter((chunk) => chunk.generation === generation)
  const chain: Chunk[] = []
  for (let at = 0; ; ) {
    const next = own.filter(({ from, to }) => from === at && (to > from || at === 0))
    const longest = next.toSorted((a, b) => b.to - a.to)[0]
    if (longest === undefined || chain.includes(longest)) break
    chain.push(longest)
    at = longest.to
  }
  return { generation, chunks: chain, to: chain.at(-1)?.to ?? 0 }
}

/**
 * The last chunks of a chain that are written again together with `added` new bytes. Like this a file that grows in many
 * small steps has few chunks, and each byte is written a few times only.
 */
export function absorbedBy(chain: Chain, added: number, maxBytes: number): readonly Chunk[] {
  let size = added
  let index = chain.chunks.length
  for (; index > 0; index--) {
    const { from, to } = chain.chunks[index - 1] as Chunk
    const bytes = to - from
    if (bytes > 2 * size || bytes + size > maxBytes) break
    size += bytes
  }
  return chain.chunks.slice(index)
}
