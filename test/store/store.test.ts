import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { describeStore } from './conformance.ts'
import { T0 } from './records.ts'

const BACKENDS = [
  {
    name: 'sqlite',
    openEmpty: () => {
      const dir = mkdtempSync(join(tmpdir(), 'reprise-store-'))
      onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
      return openSqliteStore(join(dir, 'reprise.db'), T0)
    },
  },
]

describe.each(BACKENDS)('$name', ({ openEmpty }) => describeStore(openEmpty))
