/** Every command: what the overview says of it, and where it is. Only the one that is asked for gets loaded. */
import type { Command } from 'commander'
import type { CliContext } from './base/context.ts'

export interface CommandModule {
  /** Adds arguments, options, help and action. */
  define: (command: Command, context: CliContext) => void
}

interface CommandEntry {
  name: string
  summary: string
  load: () => Promise<CommandModule>
}

export const COMMANDS: readonly CommandEntry[] = [
  { name: 'up', summary: 'start the daemon', load: () => import('./commands/up.ts') },
  { name: 'down', summary: 'stop the daemon; agents go on', load: () => import('./commands/down.ts') },
  { name: 'status', summary: 'show what the daemon is doing', load: () => import('./commands/status.ts') },
  {
    name: 'doctor',
    summary: 'look for what keeps Reprise from working',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'run',
    summary: 'give an agent a prompt to finish, and follow it',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'investigate',
    summary: 'have a problem looked at and dealt with, tier by tier',
    load: () => import('./commands/investigate.ts'),
  },
  {
    name: 'jobs',
    summary: 'list, show, retry, cancel jobs and more',
    load: () => import('./commands/jobs.ts'),
  },
  {
    name: 'watch',
    summary: 'have something looked at again and again',
    load: () => import('./commands/watch.ts'),
  },
  {
    name: 'followups',
    summary: 'list, add and cancel what is due later in a session',
    load: () => import('./commands/followups.ts'),
  },
  { name: 'chat', summary: 'chat with an agent', load: () => import('./commands/chat.ts') },
  {
    name: 'conversations',
    summary: 'list, show and delete conversations',
    load: () => import('./commands/conversations.ts'),
  },
  {
    name: 'runs',
    summary: 'list, show, follow, cancel and answer runs',
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'sessions',
    summary: "list and show the agents' sessions",
    load: () => import('./commands/sessions.ts'),
  },
  {
    name: 'agents',
    summary: 'list the agents found on this machine',
    load: () => import('./commands/agents.ts'),
  },
  { name: 'policy', summary: 'say whether a command may run', load: () => import('./commands/policy.ts') },
  {
    name: 'stats',
    summary: 'show totals and what resuming saved',
    load: () => import('./commands/stats.ts'),
  },
  { name: 'init', summary: 'write an example to begin with', load: () => import('./commands/init.ts') },
  {
    name: 'simulate',
    summary: 'serve a scripted model to real agents',
    load: () => import('./commands/simulate.ts'),
  },
]
