/** Checks of the agents that were found. */
import type { Agent, Capabilities } from '../../contract/agent.ts'
import { type Check, fail, ok, warn } from './check.ts'

const LACKS: Partial<Readonly<Record<keyof Capabilities, string>>> = {
  resume: 'it cannot resume sessions, so that each turn is sent the whole history',
  sessionId: 'it does not accept a session id',
  permissionPrompt: 'it cannot ask for permissions',
  partialMessages: 'it does not stream its text',
  budget: 'it does not support a budget',
}

export function checkAgents(agents: readonly Agent[]): Check[] {
  const someAvailable = agents.some((agent) => agent.available)
  if (agents.length === 0)
    return [
      fail('agents', 'no agent is configured', 'Remove `agents` from the configuration to use the defaults.'),
    ]
  return agents.map((agent) => checkAgent(agent, someAvailable))
}

function checkAgent(agent: Agent, someAvailable: boolean): Check {
  const name = `agent ${agent.name}`
  if (!agent.available) {
    const hint = `Install it (npm install -g @anthropic-ai/claude-code), or set agents.${agent.name}.command to its path.`
    const message = agent.problem ?? `${agent.command} was not found`
    return someAvailable ? warn(name, message, hint) : fail(name, message, hint)
  }
  const found = `${agent.version ?? 'unknown version'} at ${agent.path ?? agent.command}`
  const lacks = lacking(agent.capabilities)
  if (lacks.length > 0) return warn(name, `${found}; ${lacks.join('; ')}`, `Upgrade ${agent.command}.`)
  const login = `Run \`${agent.command}\` once to log in, or set ANTHROPIC_API_KEY; then \`reprise down && reprise up\`.`
  if (agent.simulated)
    return warn(name, `${found}; no credentials found, so it talks to the simulator`, login)
  if (agent.loggedIn === false) return warn(name, `${found}; it is not logged in`, login)
  return ok(name, found)
}

function lacking(capabilities: Capabilities | null): string[] {
  if (!capabilities) return []
  return Object.entries(LACKS)
    .filter(([capability]) => !capabilities[capability as keyof Capabilities])
    .map(([, meaning]) => meaning)
}
