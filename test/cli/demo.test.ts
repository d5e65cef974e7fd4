/** `reprise demo`, off a terminal: the whole story on the real agent, in a home of its own, and nothing is left. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createCli } from './cli.ts'

test('a chat resumes, a killed job continues, three tiers fix an incident, and everything is removed', async () => {
  const cli = createCli()
  try {
    const { code, stdout, stderr } = await cli.run(['demo'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('Reprise demo')])
    expect(stdout).toContain('You told me to remember 7.')
    expect(stderr).toMatch(/^resumed session · in \d+ uncached/m)
    expect(stderr).toContain('attempt 2: resumed session')
    expect(stdout).toContain('The report is complete.')
    expect(stderr.match(/^→ tier \d$/gm)).toEqual(['→ tier 1', '→ tier 2', '→ tier 3'])
    expect(stderr).toMatch(/It comes at [\d: -]+, in the same session: Is web still up\?/)
    expect(stderr).not.toContain('hook error')
    const [, dir = ''] = /In (\S+), with a daemon/.exec(stderr) ?? []
    expect(dir).toMatch(/reprise-demo-/)
    expect(() => readdirSync(dir)).toThrow()
    expect(processesIn(dir)).toEqual([])
    // The user's own home was not touched: nobody has started anything there.
    expect(() => readdirSync(cli.home)).toThrow()
  } finally {
    await cli.close()
  }
})

function processesIn(dir: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${Number(name)}/environ`, 'latin1').includes(`HOME=${dir}`)
    } catch {
      return false
    }
  })
}
