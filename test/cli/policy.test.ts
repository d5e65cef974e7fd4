import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCli } from './cli.ts'

const cli = createCli()
afterAll(() => cli.close())
beforeAll(() => {
  mkdirSync(cli.home, { mode: 0o700 })
  mkdirSync(join(cli.workDir, 'kept', 'db'), { recursive: true })
  mkdirSync(join(cli.workDir, 'work'))
  symlinkSync(join(cli.workDir, 'kept'), join(cli.workDir, 'work', 'link'))
  writeFileSync(
    join(cli.home, 'config.yaml'),
    `policy: { protectedPaths: ["${cli.workDir}/kept/**", ie.yaml] }\n`,
  )
  writeFileSync(join(cli.workDir, 'work', 'ie.yaml'), '')
})

describe('reprise policy check', () => {
  test.each([
    [['--tier', '2', 'docker restart jellyfin'], 0, /^allowed/],
    [['--tier', '1', 'docker restart jellyfin'], 1, /^refused: .*not allowed at tier 1 \(observe\)/],
    [['--tier', '3', "sh -c 'docker system prune'"], 1, /may never run/],
    [['--tier', '2', 'docker compose -f x.yml down'], 1, /rule: docker compose down \*/],
    [['rm -rf /'], 1, /may never run/],
    [['echo rm -rf /'], 0, /^allowed/],
    [['--cwd', 'work', 'rm -rf link/db'], 1, /kept\/db, which is protected/],
    [['--cwd', 'work', 'rm *'], 1, /is protected \(ie\.yaml\)/],
    [['--cwd', 'work', 'rm *.log'], 0, /^allowed/],
    [['--tier', '3', '--enforcement', 'advisory', 'make all'], 0, /cannot be seen/],
    [['--tier', '1', 'sudo cat /etc/shadow'], 1, /hidden/],
    [['--tier', '1', '--enforcement', 'advisory', 'sudo cat /etc/shadow'], 1, /\nadvisory: /],
    [['--tier', '2', 'rm -rf /var/lib/docker'], 1, /refused/],
    [['--tier', '2', 'git push --delete origin main'], 1, /rule: git push --force/],
    [['--tier', '3', 'reprise runs approve run_1'], 1, /does not control Reprise/],
    [['--tier', '3', `cat ${join(cli.home, 'token')}`], 1, /is hidden from agents/],
    [['--tier', '3', `rm -r ${cli.home}`], 1, /which is protected/],
    [
      ['--tier', '2', '--enforcement', 'kernel', 'docker ps | tee $X'],
      0,
      /^allowed\nruns in the sandbox; docker: judged/,
    ],
    [['--tier', '1', '--enforcement', 'kernel', 'docker restart x'], 1, /\nrule: docker\nrefused early/],
  ])('%j exits with %i', async (args, code, said) => {
    const result = await cli.inside(['policy', 'check', ...args])
    expect([result.code, result.stdout]).toEqual([code, expect.stringMatching(said)])
  })

  test('as JSON', async () => {
    const { code, json } = await cli.run([
      'policy',
      'check',
      '--json',
      '--enforcement',
      'advisory',
      '--tier',
      '2',
      'ls; $X',
    ])
    expect(code).toBe(1)
    expect(json()).toMatchObject({
      decision: 'deny',
      rule: 'opaque',
      tier: 2,
      commands: ['ls'],
      enforcement: 'advisory',
      unclear: [{ text: '$X' }],
    })
  })

  test.each([
    [['--tier', '0', 'ls'], 'must be between 1 and 9'],
    [['--tier', '8', 'ls'], 'there is no tier 8'],
    [['--cwd', 'nowhere', 'ls'], 'is not a directory'],
    [[], "missing required argument 'command'"],
  ])('wrong usage: %j', async (args, said) => {
    const { code, stderr } = await cli.run(['policy', 'check', ...args])
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
  })
})
