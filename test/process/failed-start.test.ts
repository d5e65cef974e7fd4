/** Keepers that cannot be started: the true cause in a sentence, and nothing left behind. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RepriseError } from '../../src/contract/errors.ts'
import { newAttempt, start, temporarySpool } from './attempts.ts'

const failure = (options: Parameters<typeof start>[1]) =>
  start('ignores-sigterm.sh', { attempt: newAttempt(), ...options }).then(
    () => {
      throw new Error('it was started')
    },
    (error: unknown) => error as RepriseError,
  )

test('in a directory that does not exist any more', async () => {
  const workDir = join(temporarySpool(), 'gone')
  const error = await failure({ workDir })
  expect(error).toBeInstanceOf(RepriseError)
  expect(error).toMatchObject({
    code: 'work-dir-unusable',
    message: `cannot start an agent in ${workDir}: the directory does not exist`,
  })
})

test('in a file, and below one', async () => {
  const file = join(temporarySpool(), 'file')
  writeFileSync(file, '')
  expect((await failure({ workDir: file })).message).toBe(
    `cannot start an agent in ${file}: it is not a directory`,
  )
  expect((await failure({ workDir: join(file, 'below') })).message).toContain(
    'a part of the path is not a directory',
  )
})

// Root may enter every directory.
test.skipIf(process.getuid?.() === 0)('in a directory that this user may not enter', async () => {
  const workDir = join(temporarySpool(), 'closed')
  mkdirSync(workDir)
  chmodSync(workDir, 0o600)
  expect(await failure({ workDir })).toMatchObject({
    code: 'work-dir-unusable',
    message: `cannot start an agent in ${workDir}: this user may not enter the directory`,
  })
})

test('with arguments that are too long for the system', async () => {
  expect(await failure({ args: ['x'.repeat(3_000_000)] })).toMatchObject({
    code: 'agent-unavailable',
    message: expect.stringMatching(
      /^cannot start \S+: its arguments and environment are longer than this system allows$/,
    ),
    cause: { code: 'E2BIG' },
  })
})
