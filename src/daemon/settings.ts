import type { Config } from '../config/schema.ts'
import type { EngineSettings } from '../engine/parts.ts'

export function engineSettings({ run, resume, session, jobs, agents }: Config): EngineSettings {
  return {
    concurrency: run.concurrency,
    resume: {
      maxAgeMs: resume.maxAge,
      maxResumes: resume.maxResumes,
      contextThreshold: resume.contextThreshold,
    },
    sessionIdleMs: session.idleTimeout,
    permissions: run.permissions,
    maxDurationMs: run.maxDuration,
    idleTimeoutMs: run.idleTimeout,
    hangAfterResultMs: run.hangAfterResult,
    questionTimeoutMs: run.questionTimeout,
    termAfterMs: run.termAfter,
    killAfterMs: run.killAfter,
    maxOutputBytes: run.maxOutput,
    maxLineBytes: run.maxLine,
    keepSpoolMs: run.keepOutput,
    agentConcurrency: Object.fromEntries(
      Object.entries(agents).flatMap(([name, { concurrency }]) => (concurrency ? [[name, concurrency]] : [])),
    ),
    jobs: {
      backoffMs: jobs.backoff,
      holdMs: jobs.holdLimit,
      perWorkDir: jobs.perWorkDir,
      checkpoints: jobs.checkpoints,
      checkpointPolicy: { everyMs: jobs.checkpointEvery, onChange: jobs.onChange },
      keepArchiveMs: jobs.keepTranscripts,
      keepCheckpointsMs: jobs.keepCheckpoints,
    },
  }
}
