/** `reprise trust`, and what a person is shown and asked on a terminal. */
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CliContext } from '../../src/cli/base/context.ts'
import { offerTrust } from '../../src/cli/trust/consent.ts'
import type { Client } from '../../src/client/client.ts'
import type { DecideTrust, DirectoryTrust } from '../../src/contract/trust.ts'
import { type CliDouble, createCliDouble } from './cli-double.ts'

const FOUND: DirectoryTrust = {
  dir: '/work',
  state: 'untrusted',
  digest: 'd1',
  grants: [
    { kind: 'hook', file: '/work/.claude/settings.json', text: 'Stop: evil\u202e --now\n  allow: nothing' },
    { kind: 'mcp-server', file: '/work/.mcp.json', text: 's: sh -c worse' },
  ],
  problems: [],
}

/** Answers what is asked on a terminal, and returns what was shown and decided. */
async function consent(reply: string, found: DirectoryTrust = FOUND, isTTY = true) {
  const decided: DecideTrust[] = []
  const [stdin, stderr] = [new PassThrough(), new PassThrough()]
  let shown = ''
  stderr.on('data', (text) => {
    const before = shown
    shown += text
    if (!before.includes('Trust this directory?') && shown.includes('Trust this directory?'))
      stdin.write(reply)
  })
  const context = {
    stdin: Object.assign(stdin, { isTTY }),
    stderr: Object.assign(stderr, { isTTY }),
    json: false,
    env: {},
    interrupt: () => {},
  } as unknown as CliContext
  const client = {
    inspectTrust: async () => found,
    decideTrust: async (request: DecideTrust) => {
      decided.push(request)
      return found
    },
  } as unknown as Client
  await offerTrust((work) => work(client), '/work', context)
  return { shown, decided }
}

it('shows every command, fully visible, and trusts what was shown', async () => {
  const { shown, decided } = await consent('y\n')
  expect(shown).toContain('Stop: evil\\u{202e} --now')
  // A text cannot pretend to be another entry.
  expect(shown).toContain('  |   allow: nothing')
  expect(shown).toContain('s: sh -c worse  (.mcp.json)')
  expect(decided).toEqual([{ dir: '/work', digest: 'd1', decision: 'trust' }])
})

it.each([
  ['n\n', ['decline']],
  ['\n', []],
  ['what?\n', []],
])('the answer %j decides %j', async (reply, decisions) => {
  expect((await consent(reply)).decided.map(({ decision }) => decision)).toEqual(decisions)
})

it.each(['nothing', 'trusted', 'declined', 'unusable'] as const)(
  'does not ask if it is %s',
  async (state) => {
    expect((await consent('y\n', { ...FOUND, state })).shown).toBe('')
  },
)

it('asks nobody where there is no terminal', async () => {
  expect(await consent('y\n', FOUND, false)).toEqual({ shown: '', decided: [] })
})

let cli: CliDouble
beforeEach(async () => {
  cli = await createCliDouble()
})
afterEach(() => cli.close())

it('without a terminal says what is there, exits with 1, and decides only with --yes', async () => {
  const decided: DecideTrust[] = []
  cli.engine.inspectTrust = async () => FOUND
  cli.engine.decideTrust = async (request) => {
    decided.push(request)
    return { ...FOUND, state: 'trusted' }
  }
  const shown = await cli.run(['trust'])
  expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining('nobody has trusted') })
  expect(decided).toEqual([])
  expect(await cli.run(['trust', '/work', '--yes', '--json'])).toMatchObject({ code: 0 })
  expect(decided).toEqual([{ dir: '/work', digest: 'd1', decision: 'trust' }])
  expect((await cli.run(['trust', 'list', '--json'])).json()).toEqual([])
})
