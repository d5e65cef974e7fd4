/** Every command: its line in the overview, and its module. Only the module of the requested command is loaded. */
import type { Command } from 'commander'
import type { CliContext } from './base/context.ts'
import type { TreeFor } from './base/subcommand.ts'

export interface CommandModule {
  /** Adds arguments, options, help and action. */
  define: (command: Command, context: CliContext, treeFor: TreeFor) => void
}

interface CommandEntry {
  name: string
  summary: string
  load: () => Promise<CommandModule>
}

export const COMMANDS: readonly CommandEntry[] = [
  { name: 'up', summary: 'start the daemon', load: () => import('./commands/up.ts') },
  { name: 'down', summary: 'stop the daemon; agents keep running', load: () => import('./commands/down.ts') },
  {
    name: 'open',
    summary: 'open the dashboard in a browser',
    load: () => import('./commands/open.ts'),
  },
  { name: 'status', summary: 'show what the daemon is doing', load: () => import('./commands/status.ts') },
  { name: 'logs', summary: "show the daemon's log", load: () => import('./commands/logs.ts') },
  {
    name: 'demo',
    summary: 'show in a minute what Reprise does; touches nothing of yours',
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'doctor',
    summary: 'check the installation and report problems',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'run',
    summary: 'give a prompt to an agent as a job, and follow it',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'investigate',
    summary: 'investigate a problem and fix it, escalating tier by tier',
    load: () => import('./commands/investigate.ts'),
  },
  {
    name: 'attach',
    summary: 'show something from its beginning, then live, and answer it',
    load: () => import('./commands/attach.ts'),
  },
  {
    name: 'say',
    summary: 'send a message to an agent that is at work',
    load: () => import('./commands/say.ts'),
  },
  {
    name: 'jobs',
    summary: 'list, show, retry and cancel jobs',
    load: () => import('./commands/jobs.ts'),
  },
  {
    name: 'watch',
    summary: 'check something on a schedule',
    load: () => import('./commands/watch.ts'),
  },
  {
    name: 'followups',
    summary: 'list, add and cancel prompts scheduled for a session',
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
    summary: "list, show, adopt and delete the agents' sessions",
    load: () => import('./commands/sessions.ts'),
  },
  {
    name: 'agents',
    summary: 'list the agents found on this machine',
    load: () => import('./commands/agents.ts'),
  },
  {
    name: 'policy',
    summary: 'check whether a tier may run a command',
    load: () => import('./commands/policy.ts'),
  },
  {
    name: 'stats',
    summary: 'show totals and the savings of resuming',
    load: () => import('./commands/stats.ts'),
  },
  {
    name: 'prune',
    summary: 'delete what is old, and give the space back',
    load: () => import('./commands/prune.ts'),
  },
  {
    name: 'config',
    summary: 'show and check the configuration, print its JSON Schema',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'notify',
    summary: 'test the targets of notifications',
    load: () => import('./commands/notify.ts'),
  },
  {
    name: 'token',
    summary: 'list, create, revoke and replace tokens and sign-ins',
    load: () => import('./commands/token.ts'),
  },
  {
    name: 'trust',
    summary: 'decide whether the settings of a directory may apply',
    load: () => import('./commands/trust.ts'),
  },
  {
    name: 'service',
    summary: 'let systemd start the daemon',
    load: () => import('./commands/service.ts'),
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands in your shell',
    load: () => import('./commands/completion.ts'),
  },
  { name: 'init', summary: 'write an example configuration', load: () => import('./commands/init.ts') },
  {
    name: 'simulate',
    summary: 'run a scripted model server for real agents',
    load: () => import('./commands/simulate.ts'),
  },
]
