/** The public interface of exporting, importing, forking and moving sessions. */
import type { Readable } from 'node:stream'
import type {
  ExportSession,
  ForkedSession,
  ForkSession,
  ImportedSession,
  SessionMove,
} from '../../contract/session-transfer.ts'
import { type ExportDeps, exportSession } from './export.ts'
import { type ForkDeps, forkSession } from './fork.ts'
import { type ImportDeps, type ImportOptions, importSession } from './import.ts'
import { type MoveDeps, moveSession, planSessionMove } from './move.ts'

export interface TransferEngine {
  /** The bytes of one file. The stream ends with an error if a file cannot be read to its end. */
  exportSession: (id: string, options: ExportSession) => Promise<Readable>
  /** Nothing is kept of an export that is damaged, incomplete or refused. */
  importSession: (received: Readable, options: ImportOptions) => Promise<ImportedSession>
  forkSession: (id: string, options: ForkSession) => Promise<ForkedSession>
  /** Describes what a move would mean. Changes nothing. */
  planSessionMove: (id: string, workDir: string) => Promise<SessionMove>
  moveSession: (id: string, workDir: string) => Promise<SessionMove>
}

export type TransferDeps = ExportDeps & ImportDeps & ForkDeps & MoveDeps

export function createTransfers(deps: TransferDeps): TransferEngine {
  return {
    exportSession: (id, options) => exportSession(deps, id, options),
    importSession: (received, options) => importSession(deps, received, options),
    forkSession: (id, options) => forkSession(deps, id, options),
    planSessionMove: (id, workDir) => planSessionMove(deps, id, workDir),
    moveSession: (id, workDir) => moveSession(deps, id, workDir),
  }
}
