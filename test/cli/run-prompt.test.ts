/** The prompt of `reprise run`, as the daemon is given it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Job } from '../../src/contract/job.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
beforeAll(async () => {
  cli = await createCliDouble()
})
afterAll(() => cli.close())

test.each([['--version'], ['---'], ['--dangerously-skip-permissions', '-p']])(
  'a prompt that begins with dashes is a prompt: %s',
  async (...words) => {
    const { code, json } = await cli.run(['run', '--detach', '--json', '--', ...words])
    expect(code).toBe(0)
    expect(json<Job>().prompt).toBe(words.join(' '))
  },
)
