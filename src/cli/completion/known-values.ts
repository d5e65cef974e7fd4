/**
 * Ids and names for completion, from the daemon if one runs. It is never started for this, and not waited for longer
 * than a person would wait for a key to have an effect. A failure means no candidates.
 */
import type { Client } from '../../client/client.ts'
import { shortId } from '../../contract/reference.ts'
import { firstLine } from '../terminal/terminal.ts'
import { beginningWith, type Candidate, type Listable } from './candidates.ts'

const LIMIT = 50
const DESCRIPTION_CHARS = 60

export async function knownValues(
  kinds: readonly Listable[],
  typed: string,
  findClient: () => Client | null,
): Promise<Candidate[]> {
  if (kinds.length === 0) return []
  const client = findClient()
  const lists = client ? kinds.map((kind) => LISTS[kind](client).catch(() => [])) : []
  const found = (await Promise.all(lists)).flat()
  const newest = kinds.every((kind) => kind === 'agent')
    ? []
    : [{ value: 'last', description: 'the newest one' }]
  return [...beginningWith(newest, typed), ...matchingIds(found, typed)]
}

/** The short form of an id, unless its beginning is being typed. */
function matchingIds(found: readonly Candidate[], typed: string): Candidate[] {
  const short = found.map((one) => ({ ...one, value: shortId(one.value) }))
  const matching = beginningWith(short, typed)
  return matching.length > 0 ? matching : beginningWith(found, typed)
}

const described = (value: string, ...parts: string[]): Candidate => ({
  value,
  description: firstLine(parts.filter((part) => part !== '').join(': '), DESCRIPTION_CHARS),
})

const LISTS: Readonly<Record<Listable, (client: Client) => Promise<Candidate[]>>> = {
  run: async (client) =>
    (await client.listRuns({ limit: LIMIT })).items.map(({ id, state, outcome, prompt }) =>
      described(id, outcome ?? state, prompt),
    ),
  job: async (client) =>
    (await client.listJobs({ limit: LIMIT })).items.map(({ id, state, prompt }) =>
      described(id, state, prompt),
    ),
  conversation: async (client) =>
    (await client.listConversations({ limit: LIMIT })).items.map(({ id, title }) => described(id, title)),
  session: async (client) =>
    (await client.listSessions({ limit: LIMIT })).items.map(({ id, state, workDir }) =>
      described(id, state, workDir),
    ),
  watch: async (client) =>
    (await client.listWatches()).map(({ name, state, prompt }) => described(name, state, prompt)),
  cycle: async (client) =>
    (await client.listWatches()).flatMap(({ name, lastCycle }) =>
      lastCycle ? [described(lastCycle.id, name, lastCycle.state)] : [],
    ),
  'follow-up': async (client) =>
    (await client.listFollowUps({ limit: LIMIT })).items.map(({ id, state, prompt }) =>
      described(id, state, prompt),
    ),
  agent: async (client) =>
    (await client.listAgents()).map(({ name, version }) => described(name, version ?? '')),
}
