/** Says that costs are invented: those of an agent that talks to the simulator are paid to nobody. */
import type { Client } from '../../client/client.ts'

/** Returns null if none of the named agents is simulated. */
export async function simulatedCosts(
  client: Pick<Client, 'listAgents'>,
  agents?: readonly string[],
): Promise<string | null> {
  const names = (await client.listAgents())
    .filter(({ name, simulated }) => simulated && (agents === undefined || agents.includes(name)))
    .map(({ name }) => name)
  if (names.length === 0) return null
  return `simulated: ${names.join(' and ')} ${names.length === 1 ? 'talks' : 'talk'} to the simulator`
}

/** The note under a table of runs or jobs. */
export async function simulatedCostsNote(
  client: Pick<Client, 'listAgents'>,
  items: readonly { agent: string }[],
): Promise<string | null> {
  const why = await simulatedCosts(
    client,
    items.map(({ agent }) => agent),
  )
  return why === null ? null : `The costs are ${why}.`
}
