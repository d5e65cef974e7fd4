/** What the daemon logs goes through the redactor, whatever is logged: in a process of its own, because that is stderr. */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

const SRC = resolve(import.meta.dirname, '../../src')
const PROGRAM = `
  const { createLog } = await import('${SRC}/daemon/log.ts')
  const { Redactor } = await import('${SRC}/core/redact/redactor.ts')
  const log = createLog()
  log.info({ url: 'postgres://app:hunter2@db/app' }, 'before the configuration is read')
  log.redactWith(new Redactor({ builtIn: true, patterns: [], values: ['open "sesame"'] }))
  log.error({ err: new Error('cannot open "sesame"'), deep: { list: ['open "sesame"'] } }, 'open "sesame"')
`

it('has no secret in its fields, its message or its errors', () => {
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { encoding: 'utf8' })
  const [first, second] = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(first).toMatchObject({ url: 'postgres://app:[redacted: password]@db/app', level: 30 })
  expect(second).toMatchObject({
    msg: '[redacted]',
    deep: { list: ['[redacted]'] },
    err: { message: 'cannot [redacted]' },
  })
  expect(stderr).not.toMatch(/sesame|hunter2/)
})
