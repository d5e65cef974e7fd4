/** Creates the notifier and its targets from the configuration. */
import { commonEnvironment } from '../agents/environment.ts'
import type { Config } from '../config/schema.ts'
import type { Clock } from '../core/clock.ts'
import type { NotifyTarget } from '../core/notify/target.ts'
import type { Log } from '../engine/base/log.ts'
import { Notifier } from '../engine/notify/notifications.ts'
import type { Store } from '../store/store.ts'
import type { MachineEnv } from './agents.ts'
import { readVersion } from './version.ts'

export function createNotifier(input: {
  config: Config
  store: Store
  clock: Clock
  home: string
  env: MachineEnv
  log: Log
}): Notifier {
  const { config, store, clock, home, env, log } = input
  return new Notifier({
    store,
    clock,
    random: Math.random,
    log,
    settings: {
      targets: Object.entries(config.notify).map(([name, target]) => toTarget(name, target)),
      allowedHosts: config.webhooks.allow,
      userAgent: `reprise/${readVersion()}`,
      env: commonEnvironment(env),
      workDir: home,
    },
  })
}

/** The schema guarantees that there is either a webhook or a command. */
function toTarget(name: string, { on, ...target }: Config['notify'][string]): NotifyTarget {
  const { webhook, headers = {}, secret = null, command = '' } = target
  const how =
    webhook === undefined
      ? ({ kind: 'command', command } as const)
      : ({ kind: 'webhook', url: webhook, headers, secret } as const)
  return { name, on, how }
}
