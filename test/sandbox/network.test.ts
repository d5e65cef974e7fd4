/** A tier without a network, on the real CLI: it talks to its model, and reaches nothing else. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { bash, FIXED, Incident, report, results } from '../support/incident.ts'

let incident: Incident
afterEach(() => incident.close())

it('reaches its model and nothing else', async () => {
  const reached: string[] = []
  const server = createServer((request, response) => {
    reached.push(request.url ?? '')
    response.end('reached')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const call = (name: string) =>
    `node -e 'fetch("http://127.0.0.1:${port}/${name}").then((r) => r.text()).catch((e) => e.cause?.code).then(console.log)'`
  incident = await Incident.begin(
    [2, 3].map((n) => ({
      when: { user: `tier ${n} of` },
      reply: [bash(call(`tier${n}`)), results, report(n === 3 ? FIXED : {}), results, { text: 'end' }],
    })),
    { tiers: { 2: { network: 'open', commands: { allow: ['node *'] } }, 3: { network: 'none' } } },
  )
  const chain = await incident.play({ tier: 2 })
  expect(chain.runs.map(({ tier, outcome }) => [tier, outcome])).toEqual([
    [2, 'completed'],
    [3, 'completed'],
  ])
  expect(reached).toEqual(['/tier2'])
  expect(JSON.stringify(incident.world.simulator.requests().at(-1)?.messages)).toContain('ECONNREFUSED')
})
