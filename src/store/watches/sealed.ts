/**
 * The secrets of watches are stored sealed (encrypted), so that a copy of the database does not contain them. They
 * cannot be stored as a hash: signatures of senders are checked with the secret itself.
 */
import type { WatchDefinition } from '../../contract/watch.ts'
import type { Tx } from '../base/transaction.ts'
import type { WatchRecord } from './records.ts'

export interface Sealer {
  /** The same secret always has the same sealed form. */
  seal: (secret: string) => string
  /** A secret that was not sealed is returned as it is; one that cannot be opened is empty. */
  open: (sealed: string) => string
  isSealed: (text: string) => boolean
}

/** For stores that contain no secrets. */
export const NO_SEALER: Sealer = { seal: (secret) => secret, open: (text) => text, isSealed: () => true }

const change = (definition: WatchDefinition, by: (secret: string) => string): WatchDefinition =>
  definition.hookSecret === undefined ? definition : { ...definition, hookSecret: by(definition.hookSecret) }

export const sealDefinition = (sealer: Sealer, definition: WatchDefinition) => change(definition, sealer.seal)

export const openWatch = (sealer: Sealer, watch: WatchRecord): WatchRecord => ({
  ...watch,
  definition: change(watch.definition, sealer.open),
})

/** Seals secrets that an earlier version stored as they were. Returns their number. */
export async function sealStored(tx: Tx, sealer: Sealer): Promise<number> {
  const rows = await tx.selectFrom('watches').select(['id', 'definition']).execute()
  let sealed = 0
  for (const row of rows) {
    const definition = JSON.parse(row.definition) as WatchDefinition
    if (definition.hookSecret === undefined || sealer.isSealed(definition.hookSecret)) continue
    await tx
      .updateTable('watches')
      .set({ definition: JSON.stringify(sealDefinition(sealer, definition)) })
      .where('id', '=', row.id)
      .execute()
    sealed++
  }
  return sealed
}
