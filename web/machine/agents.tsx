/** The agents that were found, and what they can do. */
import { useQuery } from '@tanstack/react-query'
import type { Agent } from '../../src/contract/agent.ts'
import { agentsQuery } from '../data/queries.ts'
import { inert } from '../format/text.ts'
import { Badge, ErrorBox, Mark, Middle, Rows, Skeleton } from '../parts/base.tsx'

export function Agents() {
  const { data, error, refetch } = useQuery(agentsQuery())
  if (error) return <ErrorBox error={error} retry={() => void refetch()} />
  if (!data) return <Skeleton rows={1} height={64} />
  return (
    <Rows label="Agents">
      {data.map((agent) => (
        <AgentRow key={agent.name} agent={agent} />
      ))}
    </Rows>
  )
}

const CAPABILITY_WORDS: Readonly<Record<keyof NonNullable<Agent['capabilities']>, string>> = {
  resume: 'resumes',
  sessionId: 'takes session ids',
  fork: 'forks',
  partialMessages: 'streams',
  permissionPrompt: 'asks for permission',
  budget: 'keeps budgets',
  structuredOutput: 'reports in a schema',
  toolChoice: 'tools can be chosen',
  sealing: 'can be sealed',
}

function AgentRow({ agent }: { agent: Agent }) {
  const { capabilities } = agent
  return (
    <li className="px-3 py-2">
      <p className="flex flex-wrap items-center gap-2">
        <Mark
          standing={agent.available ? 'done' : 'fail'}
          label={agent.available ? 'available' : 'not available'}
        />
        <span className="font-semibold">{agent.name}</span>
        <span className="text-muted">{agent.version ?? agent.adapter}</span>
        {agent.simulated && <Badge standing="ask">simulated</Badge>}
        {agent.loggedIn === false && <Badge standing="ask">not logged in</Badge>}
      </p>
      {agent.problem && <p className="pl-6 text-fail">{inert(agent.problem)}</p>}
      <p className="pl-6 text-small text-muted">
        <Middle text={agent.path ?? agent.command} max={64} mono />
      </p>
      {capabilities && (
        <p className="mt-1 flex flex-wrap gap-1 pl-6">
          {(Object.keys(CAPABILITY_WORDS) as (keyof typeof CAPABILITY_WORDS)[]).map((name) => (
            <span
              key={name}
              className={`text-label ${capabilities[name] ? 'rounded bg-raised px-1.5 py-px' : 'px-1.5 text-muted line-through'}`}
            >
              {CAPABILITY_WORDS[name]}
            </span>
          ))}
        </p>
      )}
    </li>
  )
}
