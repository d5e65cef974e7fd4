/** The three tiers as they are without any configuration, and what none of them may do. */
import type { CooldownSettings } from './cooldown.ts'

export interface TierDefault {
  name: string
  model: string
  tools: readonly string[]
  commands: { allow?: readonly string[]; deny?: readonly string[] }
}

const LOOKING = ['Bash', 'Read', 'Grep', 'Glob', 'Task', 'WebFetch', 'WebSearch']
const CHANGING = [
  ...LOOKING,
  'Edit',
  'Write',
  'NotebookEdit',
  'TodoWrite',
  'CronCreate',
  'CronList',
  'CronDelete',
  'ScheduleWakeup',
]

/** Tools that an agent has and a tier can be given. */
export const KNOWN_TOOLS: readonly string[] = [
  ...CHANGING,
  'MultiEdit',
  'BashOutput',
  'KillShell',
  'TaskOutput',
  'TaskStop',
  'Agent',
  'Skill',
  'SlashCommand',
  'AskUserQuestion',
  'LS',
  'EnterPlanMode',
  'ExitPlanMode',
  'ToolSearch',
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
  'TaskGet',
  'Monitor',
  'LSP',
]

const FULL_ONLY = [
  'ansible *',
  'ansible-playbook *',
  'helm install *',
  'helm upgrade *',
  'helm rollback *',
  'helm uninstall *',
  'helm delete *',
  'docker compose down *',
  'docker compose rm *',
  'docker rm *',
  'docker volume rm *',
  'kubectl delete *',
]

export const DEFAULT_TIERS: Readonly<Record<string, TierDefault>> = {
  1: { name: 'observe', model: 'haiku', tools: LOOKING, commands: { allow: [] } },
  2: {
    name: 'safe-remediation',
    model: 'sonnet',
    tools: CHANGING,
    commands: {
      allow: [
        'docker restart *',
        'docker start *',
        'docker container restart *',
        'docker container start *',
        'docker compose up -d *',
        'docker compose restart *',
        'docker compose start *',
        'docker compose pull *',
        'docker pull *',
        'systemctl restart *',
        'systemctl start *',
        'systemctl reload *',
        'systemctl try-restart *',
        'systemctl reload-or-restart *',
        'systemctl try-reload-or-restart *',
        'systemctl reset-failed *',
        'service * restart',
        'service * start',
        'service * reload',
        'kubectl rollout restart *',
        'gh pr create *',
        'gh pr comment *',
        'gh issue create *',
        'gh issue comment *',
        'tea pr create *',
        'apprise *',
        'git add *',
        'git commit *',
        'git push *',
        'git fetch *',
        'git pull *',
        'git checkout *',
        'git switch *',
        'git branch *',
        'git restore *',
        'git stash *',
        'mkdir *',
        'touch *',
        'mktemp *',
        'cp *',
        'mv *',
        'ln *',
        'rm *',
        'chmod *',
        'sed -i *',
        'truncate *',
        'rmdir *',
      ],
      deny: FULL_ONLY,
    },
  },
  3: { name: 'full-remediation', model: 'opus', tools: CHANGING, commands: {} },
}

export const DEFAULT_NEVER: readonly string[] = [
  'docker system prune *',
  'docker volume prune *',
  'git push --force *',
  'git push --mirror *',
  'podman system reset *',
  'rm -rf /*',
]

/** Programs that act on the world. Inside a sandbox they are shims; the broker runs the real ones. */
export const DEFAULT_BROKER_PROGRAMS: readonly string[] = [
  'docker',
  'docker-compose',
  'podman',
  'podman-compose',
  'podman-remote',
  'nerdctl',
  'kubectl',
  'helm',
  'systemctl',
  'service',
  'ansible',
  'ansible-playbook',
  'terraform',
  'gh',
  'tea',
  'apprise',
  'ssh',
  'git',
  'reprise',
]

const HOUR_MS = 3_600_000

export const DEFAULT_COOLDOWNS: Readonly<Record<string, CooldownSettings>> = {
  restart: {
    match: [
      'docker restart {service}',
      'docker container restart {service}',
      'docker compose restart {service}',
      'docker service update {service}',
      'podman restart {service}',
      'podman container restart {service}',
      'podman compose restart {service}',
      'systemctl restart {service}',
      'systemctl try-restart {service}',
      'systemctl reload-or-restart {service}',
      'systemctl try-reload-or-restart {service}',
      'service {service} restart',
      'service {service} force-reload',
      'kubectl rollout restart {service}',
      'oc rollout restart {service}',
    ],
    limit: 2,
    per: 4 * HOUR_MS,
  },
  redeploy: {
    match: [
      'docker compose up {service}',
      'docker stack deploy {service}',
      'podman compose up {service}',
      'podman-compose up {service}',
      'ansible-playbook {service}',
      'helm install {service} *',
      'helm upgrade {service} *',
      'helm rollback {service} *',
    ],
    limit: 1,
    per: 24 * HOUR_MS,
  },
}
