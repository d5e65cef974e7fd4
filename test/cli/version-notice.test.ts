/** What a command says about a daemon of another version. */
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { CliContext } from '../../src/cli/base/context.ts'
import { explainVersions, noticeVersion } from '../../src/cli/daemon/version-notice.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import { compareVersions } from '../../src/contract/version.ts'

test.each([
  ['0.2.0', '0.1.0', 1],
  ['0.1.10', '0.1.9', 1],
  ['1.0.0', '1.0.0', 0],
  ['1.0.0-beta.2', '1.0.0-beta.10', -1],
  ['1.0.0-beta.2', '1.0.0', -1],
  ['1.0.0-1', '1.0.0-beta', -1],
  ['1.0.0-beta', '1.0.0-beta.1', -1],
  ['1.0.0+one', '1.0.0+two', 0],
  ['1.0', '1.0.0', null],
])('%s compared with %s: %s', (a, b, order) => {
  const result = compareVersions(a, b)
  expect(result === null ? null : Math.sign(result)).toBe(order)
})

function contextOf(version: string) {
  const stderr = new PassThrough()
  const context = { version, stderr, env: {} } as unknown as CliContext
  return { context, said: () => String(stderr.read() ?? '') }
}

describe('a daemon of another version', () => {
  const unknownRoute = new RepriseError('not-found', '/api/notifications/test does not exist')

  test('is mentioned once, with what to do', () => {
    const { context, said } = contextOf('0.2.0')
    noticeVersion(context, { version: '0.1.0' })
    noticeVersion(context, { version: '0.1.0' })
    expect(said()).toBe(
      'The daemon is Reprise 0.1.0, this command is Reprise 0.2.0. Restart the daemon with: reprise up; running agents continue.\n',
    )
    const same = contextOf('0.2.0')
    noticeVersion(same.context, { version: '0.2.0' })
    expect(same.said()).toBe('')
  })

  test.each([
    unknownRoute,
    new RepriseError('bad-request', '/api/runs does not support PUT: expected GET, POST'),
    new RepriseError('bad-request', 'fancy: unknown field'),
  ])('explains $message', (error) => {
    const { context } = contextOf('0.2.0')
    noticeVersion(context, { version: '0.1.0' })
    const explained = explainVersions(error, context)
    expect(explained.message).toBe(
      `the daemon (Reprise 0.1.0) does not know what this command (Reprise 0.2.0) asks for: ${error.message}`,
    )
    expect(explained).toMatchObject({ code: error.code, hint: expect.stringContaining('reprise up') })
  })

  test('other errors, and those of a daemon of the same version, stay as they are', () => {
    const { context } = contextOf('0.2.0')
    expect(explainVersions(unknownRoute, context)).toBe(unknownRoute)
    noticeVersion(context, { version: '0.1.0' })
    const other = new RepriseError('not-found', 'there is no run run_1')
    expect(explainVersions(other, context)).toBe(other)
  })
})
