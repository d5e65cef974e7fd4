/** A process without descriptors knows nothing about files: it says so, instead of taking a session for missing. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDir } from './temporary-dir.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const PROGRAM = join(import.meta.dirname, '../support/without-descriptors.ts')

it('a session is not missing, damaged or unused because it cannot be looked at', () => {
  const dir = temporaryDir()
  const project = join(dir, 'projects', '-srv-project')
  mkdirSync(project, { recursive: true })
  mkdirSync(join(dir, 'sessions'))
  const message = {
    parentUuid: null,
    type: 'user',
    uuid: 'u1',
    sessionId: ID,
    message: { role: 'user', content: 'hi' },
  }
  writeFileSync(join(project, `${ID}.jsonl`), `${JSON.stringify(message)}\n`)
  writeFileSync(join(dir, 'sessions', '1.json'), JSON.stringify({ sessionId: ID, pid: process.pid }))
  const look = (how: string): unknown =>
    JSON.parse(execFileSync(process.execPath, [PROGRAM, dir, ID, '/srv/project', how], { encoding: 'utf8' }))

  expect(look('normal')).toMatchObject({
    locate: { folder: null },
    inspect: { state: expect.stringMatching(/present|torn/) },
    holders: [{ pid: process.pid }],
    examine: { kind: 'unusable' },
  })
  expect(look('exhausted')).toEqual({
    locate: 'EMFILE',
    inspect: 'EMFILE',
    holders: 'EMFILE',
    open: 'EMFILE',
    examine: 'EMFILE',
  })
})
