import type { Kysely } from 'kysely'

interface Before {
  facts: { key: string; value: string }
  sessions: { runtime_id: string; runtime: string | null }
}

/**
 * The runtime that wrote a session is recorded in parts, because an upgrade of the agent changes only one of them.
 * Older ids were made from path and version. The facts hold their parts, because each probe was stored there, but not
 * the command as it was found, which stays unknown until the session is written again.
 */
export const runtimes = {
  number: 18,
  name: 'runtimes',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema.alterTable('sessions').addColumn('runtime', 'text').execute()
    await db.schema.alterTable('attempts').addColumn('runtime', 'text').execute()
    const before = db as Kysely<Before>
    const probes = await before
      .selectFrom('facts')
      .select('value')
      .where('key', 'like', 'runtime-2:%')
      .execute()
    for (const { value } of probes) {
      const { runtimeId, version, capabilities } = JSON.parse(value) as {
        runtimeId: string
        version: string
        capabilities: Record<string, boolean>
      }
      const can = Object.keys(capabilities).filter((name) => capabilities[name])
      await before
        .updateTable('sessions')
        .set({ runtime: JSON.stringify({ id: runtimeId, command: null, version, can }) })
        .where('runtime_id', '=', runtimeId)
        .execute()
    }
  },
}
