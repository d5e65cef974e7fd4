import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'vitest'
import { FIXED, Incident, tier } from '../support/incident.ts'
it('x', async () => {
  const incident = await Incident.begin([tier(1, ['docker ps'], FIXED)])
  const chain = await incident.play()
  console.log(JSON.stringify(chain.runs[0]).slice(0, 1500))
  const spool = join(incident.world.home, 'spool')
  for (const a of readdirSync(spool)) { console.log(a, readdirSync(join(spool, a)), readFileSync(join(spool, a, 'err'), 'utf8').slice(0, 2000), readFileSync(join(spool,a,'keeper.log'),'utf8')) }
  await incident.close()
})
