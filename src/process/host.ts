/** The processes of this machine, as the engine uses them (engine/base/processes.ts): a keeper and a folder per attempt. */

import type { AttemptDir } from './attempt-dir.ts'
import {
  attemptDir,
  closeInput,
  deliver,
  hasMessage,
  lastWriteOf,
  poke,
  prepare,
  readSeed,
  readStderrTail,
  revoke,
  sizeOf,
} from './attempt-dir.ts'
import { findKeeper, isOfOther, readKeeper } from './keepers.ts'
import { endAttempt, endStrays, goneWithin } from './ladder.ts'
import { launch } from './launch.ts'
import { memoryOf, readMemory } from './memory.ts'
import { isAlive, type ProcessIdentity, readMarker } from './proc.ts'
import { Tail } from './tail.ts'

/** `spool` is the folder that holds one folder per attempt. */
export const openHost = (spool: string) => ({
  folderOf: (attemptId: string) => attemptDir(spool, attemptId),
  prepare,
  readSeed,
  launch,
  revoke,
  findKeeper,
  readKeeper,
  isAlive,
  isOfOther,
  attemptOf: readMarker,
  follow: (dir: AttemptDir, keeper: ProcessIdentity, offset: number) => new Tail(dir, keeper, offset),
  sizeOf,
  lastWriteOf,
  readStderrTail,
  deliver,
  closeInput,
  hasMessage,
  poke,
  end: endAttempt,
  endStrays,
  memoryOf,
  readMemory,
  goneWithin,
})
