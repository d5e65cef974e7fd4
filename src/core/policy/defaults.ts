import type { CooldownSettings } from './cooldown.ts'

/** The three tiers as they are without any configuration, and what none of them may do. */
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
        'docker compose up *',
        'docker compose restart *',
        'docker compose start *',
        'docker compose pull *',
        'docker pull *',
        'systemctl restart *',
        'systemctl start *',
        'systemctl reload *',
        'systemctl reset-failed *',
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
  'rm -rf /*',
]

export const DEFAULT_PROTECTED_PATHS: readonly string[] = [
  '/volumes/**',
  'ie.yaml',
  'vms.yaml',
  '.git/hooks/**',
]

/**
 * Protected besides, whatever is configured: files with which one tier would give itself, or every later one, more than
 * it may. What a later shell, git, agent, timer or program on PATH does is written in them.
 */
export const ALWAYS_PROTECTED: readonly string[] = [
  ...[
    'profile',
    'bashrc',
    'bash_profile',
    'bash_login',
    'bash_logout',
    'bash_aliases',
    'zshrc',
    'zshenv',
  ].map((name) => `~/.${name}`),
  '~/.zprofile',
  '~/.zlogin',
  '/etc/profile',
  '/etc/profile.d/**',
  '/etc/bash.bashrc',
  '/etc/environment',
  '/etc/sudoers',
  '/etc/sudoers.d/**',
  '/etc/cron*/**',
  '/etc/crontab',
  '/var/spool/cron/**',
  '/etc/ld.so.preload',
  '.git/config',
  '.git/config.worktree',
  '.git/info/**',
  '.git/hooks/**',
  '.git/modules/**',
  '.git/worktrees/*/config.worktree',
  '~/.gitconfig',
  '~/.config/git/**',
  '~/.config/systemd/**',
  '~/.ssh/**',
  '~/.docker/**',
  '~/.config/containers/**',
  '~/.kube/**',
  '~/.config/helm/**',
  '~/.local/share/helm/**',
  '~/.config/gh/**',
  '~/.local/share/gh/**',
  '~/.config/tea/**',
  '~/.apprise/**',
  '~/.config/apprise/**',
  '~/.pip/**',
  '~/.config/pip/**',
  '~/.curlrc',
  '~/.config/curlrc',
  '~/.wgetrc',
  '~/.config/environment.d/**',
  '~/.config/autostart/**',
  '~/.config/fish/**',
  '.npmrc',
  '~/.local/bin/**',
  '~/bin/**',
  '~/.claude.json',
  '.claude/*.json',
  '.claude/*.md',
  '.claude/agents/**',
  '.claude/commands/**',
  '.claude/skills/**',
  '.claude/hooks/**',
  '.claude/plugins/**',
  '.claude/rules/**',
  '.claude/output-styles/**',
  '.mcp.json',
  '.envrc',
  'reprise.yaml',
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
