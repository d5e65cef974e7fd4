/**
 * A Kysely dialect on node:sqlite. Each driver has one connection, so statements and transactions are serialised;
 * statements are prepared once. `begin immediate`: a writer learns at its first statement, not its last, that another
 * one is writing.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { StorageUnavailable } from '../base/errors.ts'

export function nodeSqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new NodeSqliteDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

class NodeSqliteDriver implements Driver {
  readonly #database: DatabaseSync
  readonly #connection: NodeSqliteConnection
  /** Resolves when the connection is free for the next caller. */
  #turn: Promise<void> = Promise.resolve()
  #release: () => void = () => {}

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#connection = new NodeSqliteConnection(database)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#turn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turn = promise
    await before
    this.#release = resolve
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#release()
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  /** SQLite itself rolls back when the disk is full or fails; nothing is left to do then. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (!this.#database.isTransaction) return
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async destroy(): Promise<void> {
    this.#database.close()
  }
}

/**
 * SQLite's result codes for a disk that is full, read-only or failing, for a file that others keep locked, and for a
 * machine without memory or descriptors.
 */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  5: 'another program keeps the database locked',
  7: 'there is not enough memory',
  8: 'the database cannot be written (read-only)',
  10: 'the disk failed or a file-size limit was reached',
  13: 'the disk is full',
  14: 'a file of the database cannot be opened',
}

function asUnavailable(error: unknown): StorageUnavailable | null {
  const what = UNAVAILABLE[((error as { errcode?: number }).errcode ?? 0) & 0xff]
  if (!what) return null
  return new StorageUnavailable(what, error)
}

const MAX_STATEMENTS = 300

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, { statement: StatementSync; returnsRows: boolean }>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const { statement, returnsRows } = this.#prepare(sql)
      const values = parameters as SQLInputValue[]
      if (returnsRows) return { rows: statement.all(...values) as R[] }
      const { changes, lastInsertRowid } = statement.run(...values)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (error) {
      throw asUnavailable(error) ?? error
    }
  }

  #prepare(sql: string) {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    const entry = { statement, returnsRows: statement.columns().length > 0 }
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear()
    this.#statements.set(sql, entry)
    return entry
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming queries are not used')
  }
}
