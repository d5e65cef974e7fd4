/** A machine that refuses every sandbox, on the real CLI: tiers run, and say that their rules are advisory; what needs a sandbox does not start. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { attackAt, BASE, disguised } from '../support/attack.ts'
import { bash, FIXED, Incident, report, results } from '../support/incident.ts'

let incident: Incident
afterEach(() => incident.close())

/** Like a container without the right to make namespaces. */
async function begin(...[rules, config]: Parameters<typeof Incident.prepare>): Promise<void> {
  incident = await Incident.prepare(rules, config, BASE)
  for (const name of ['unshare', 'bwrap'])
    await incident.install(name, `echo '${name}: unshare failed: Operation not permitted' >&2; exit 1`)
  await incident.world.startDaemon()
}

it('tiers run by strict rules that are advisory, and each run says so', async () => {
  const writes = 'echo made >"$HOME/outside"'
  await begin([
    {
      when: { user: 'tier 1 of' },
      reply: [
        ...[bash('docker ps'), results, bash(disguised('docker ps')), results],
        ...[bash('docker system prune'), results, report(), results, { text: 'end' }],
      ],
    },
    { when: { user: 'tier 2 of' }, reply: [report(), results, { text: 'end' }] },
    attackAt(3, writes, FIXED),
  ])
  const { world } = incident
  const chain = await incident.play()
  expect(chain.runs.map(({ tier, outcome, sandbox }) => [tier, outcome, sandbox])).toEqual(
    [1, 2, 3].map((n) => [n, 'completed', 'none']),
  )
  expect(incident.docker).toEqual(['ps'])
  expect(chain.runs[0]?.refusals).toBe(2)
  for (const { id } of chain.runs) {
    const notes = (await world.events(id)).flatMap((event) => (event.type === 'note' ? [event.text] : []))
    expect(notes.filter((text) => /rules of this tier are advisory.*reprise doctor/.test(text))).toHaveLength(
      1,
    )
  }
  // What is not written out at a tier without a list of commands happens: nothing holds it.
  expect(existsSync(join(world.dir, 'outside'))).toBe(true)
})

it('a tier that must have a sandbox does not start, nor does a run that asks for one', async () => {
  await begin([{ reply: [report(FIXED), results, { text: 'end' }] }], { tiers: { enforcement: 'kernel' } })
  const { world } = incident
  const asked = [await world.run({ prompt: 'go', tier: 1 }), await world.run({ prompt: 'go', sandbox: true })]
  await world.killDaemon('SIGTERM')
  await world.configure({ run: { sandbox: 'on' } })
  await world.startDaemon()
  asked.push(await world.run({ prompt: 'go' }))
  for (const run of asked) {
    expect(run).toMatchObject({ attemptCount: 0, sandbox: null })
    expect(run.message).toMatch(
      /^(not started: )?this run needs a sandbox, and there is none: .*unshare failed: Operation not permitted/,
    )
  }
  expect(world.simulator.requests()).toEqual([])
})
