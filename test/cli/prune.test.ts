/** `reprise prune` and `reprise sessions rm`, with an engine in memory. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pruneLines } from '../../src/cli/commands/prune.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

let cli: CliDouble
beforeAll(async () => {
  cli = await createCliDouble()
})
afterAll(() => cli.close())

it('shows what would go by kind, then what went, and the bytes that were freed', async () => {
  const dry = await cli.run(['prune', '--dry-run'])
  expect(dry).toMatchObject({ code: 0 })
  expect(dry.stdout).toMatch(
    /^runs +12 {2}20 KiB\njobs +3\nWould free about 20 KiB\. The database has 4 MiB\.\n$/,
  )
  expect((await cli.run(['prune'])).stdout).toContain('Freed 8 MiB.')
  expect(JSON.parse((await cli.run(['prune', '--json'])).stdout)).toMatchObject({
    dryRun: false,
    freedBytes: 8_388_608,
  })
})

it('says so if there is nothing', () => {
  const nothing = { dryRun: false, items: [], freedBytes: 0, databaseBytes: 1024 }
  expect(pruneLines(nothing)).toEqual(['Nothing is old enough to be deleted. The database has 1 KiB.'])
})

it('deletes a session; an unknown id and what is no id are errors', async () => {
  const { id } = cli.engine.session
  expect(await cli.run(['sessions', 'rm', id])).toMatchObject({ code: 0, stdout: `deleted ${id}\n` })
  expect(await cli.run(['sessions', 'rm', 'ses_01M7P4M9A578QN3YY0VCX470DV'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no session'),
  })
  expect(await cli.run(['sessions', 'rm', '../x'])).toMatchObject({ code: 2 })
  expect(await cli.run(['prune', 'everything'])).toMatchObject({ code: 2 })
})
