import { tierEntries } from '../config/policy-schema.ts'
import type { Config } from '../config/schema.ts'
import type { TierSettings } from '../core/escalation/tier.ts'
import type { ConfiguredWatch } from '../core/watch/definition.ts'
import type { EngineSettings } from '../engine/base/settings.ts'
import { cooldownsOf } from './policy.ts'

/** `prompts` contains the texts of the tiers' prompt files. */
export function engineSettings(
  config: Config,
  prompts: ReadonlyMap<number, string>,
  watches: readonly ConfiguredWatch[],
): EngineSettings {
  const { disk, run, resume, session, jobs, agents, escalation, conversations, followUps, keep } = config
  return {
    concurrency: run.concurrency,
    resume: {
      maxAgeMs: resume.maxAge,
      maxResumes: resume.maxResumes,
      contextThreshold: resume.contextThreshold,
    },
    sessions: { pauseAfterMs: session.pauseAfter, idleTimeoutMs: session.idleTimeout },
    permissions: run.permissions,
    maxDurationMs: run.maxDuration,
    idleTimeoutMs: run.idleTimeout,
    hangAfterResultMs: run.hangAfterResult,
    questionTimeoutMs: run.questionTimeout,
    termAfterMs: run.termAfter,
    killAfterMs: run.killAfter,
    maxOutputBytes: run.maxOutput,
    minFreeBytes: disk.minFree,
    maxLineBytes: run.maxLine,
    keep: {
      runsMs: keptFor(keep.runs),
      eventsMs: keptFor(keep.events),
      transcriptsMs: keptFor(keep.transcripts),
      sessionsMs: keptFor(keep.sessions),
      outputMs: keptFor(keep.output),
      checkpointsMs: keptFor(keep.checkpoints),
      auditMs: keptFor(keep.audit),
    },
    agentConcurrency: Object.fromEntries(
      Object.entries(agents).flatMap(([name, { concurrency }]) => (concurrency ? [[name, concurrency]] : [])),
    ),
    dryRun: config.dryRun,
    sandbox: { runs: run.sandbox === 'on', tiersNeedIt: config.tiers.enforcement === 'kernel' },
    brokered: config.broker.programs,
    outageLimitMs: config.outage.limit,
    escalation: {
      tiers: tiersOf(config, prompts),
      rules: { ...config.policy, cooldowns: cooldownsOf(config) },
      maxTier: config.maxTier,
      budgetUsd: escalation.budgetUsd ?? null,
      approvalTimeoutMs: escalation.approvalTimeout,
    },
    jobs: {
      backoffMs: jobs.backoff,
      holdMs: jobs.holdLimit,
      perWorkDir: jobs.perWorkDir,
      checkpoints: jobs.checkpoints,
      checkpointPolicy: { everyMs: jobs.checkpointEvery, onChange: jobs.onChange },
    },
    watches,
    kept: {
      keepMs: conversations.keepWarm,
      maxProcesses: conversations.maxKept,
      maxBytes: conversations.maxKeptMemory,
    },
    followUps: {
      holdMs: followUps.hold,
      maxPending: followUps.maxPending,
      maxAheadMs: followUps.maxAhead,
      maxPendingTotal: followUps.maxPendingTotal,
    },
  }
}

const keptFor = (time: number | 'forever') => (time === 'forever' ? Number.POSITIVE_INFINITY : time)

/** The configuration loader has checked that every tier has a model and tools. */
function tiersOf({ tiers }: Config, prompts: ReadonlyMap<number, string>): Map<number, TierSettings> {
  return new Map(
    tierEntries(tiers).map(([key, tier]) => {
      const number = Number(key)
      return [
        number,
        {
          number,
          name: tier.name ?? `tier ${number}`,
          model: tier.model,
          tools: tier.tools,
          deniedTools: tier.deniedTools,
          allow: tier.commands?.allow,
          deny: tier.commands?.deny,
          prompt: prompts.get(number) ?? null,
          approval: tier.approval ?? false,
          budgetUsd: tier.budgetUsd ?? null,
          maxDurationMs: tier.maxDuration ?? null,
          contextWindow: tier.contextWindow,
          files: {
            write: tier.files?.write ?? (number === 1 ? [] : ['.']),
            hidden: tier.files?.hidden ?? [],
          },
          network: tier.network ?? 'open',
        },
      ]
    }),
  )
}
