import { join } from 'node:path'

/** The directory, in the home, with one folder per session of the provider. */
export const AGENT_SESSIONS = 'agent-sessions'

/** The folder of a session in that directory. null: the id, which comes from the agent, could be a path. */
export const storedSessionDir = (agentSessions: string, agentSessionId: string): string | null =>
  /^[\w-]{1,128}$/.test(agentSessionId) ? join(agentSessions, agentSessionId) : null
