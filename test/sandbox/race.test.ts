/** An agent exchanges a file for a link between the broker's check and the program. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { attackAt, BASE } from '../support/attack.ts'
import { FIXED, Incident } from '../support/incident.ts'

let incident: Incident
afterEach(() => incident.close())

const race = (calls: number) => `
echo plain >plain; rm -f other
(while :; do ln -sfn plain body; ln -sfn "$HOME/.ssh/id_rsa" body; done) &
flip=$!
for i in $(seq ${calls}); do apprise -b x -a body; done >out 2>&1
kill $flip
ln -s plain other; apprise -b x -a other >>out 2>&1
sort out | uniq -c | cut -c1-150
`
it('a file that becomes a link to something hidden is not read for an agent', async () => {
  incident = await Incident.prepare([attackAt(2, race(5)), attackAt(3, race(15), FIXED)], {}, BASE)
  const { world } = incident
  await incident.install('apprise', 'cat "$4"')
  mkdirSync(join(world.dir, '.ssh'))
  writeFileSync(join(world.dir, '.ssh/id_rsa'), 'SECRET-KEY\n')
  await world.startDaemon()
  await incident.play({ tier: 2 })
  const told = JSON.stringify(world.simulator.requests().at(-1)?.messages)
  // Tier 2 may not name such a file at all. At tier 3 the program gets a copy of what was checked.
  expect(told).toContain('could become another file')
  expect(told).toMatch(/\d plain["\\]/)
  expect(told).not.toContain('SECRET-KEY')
})
