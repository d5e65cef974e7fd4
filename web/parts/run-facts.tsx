/** Describes a run and its state. */
import { Link } from '@tanstack/react-router'
import type { Attempt, Run } from '../../src/contract/run.ts'
import { startText } from '../../src/contract/start-text.ts'
import { formatCost, formatPercent, formatTokens } from '../format/amounts.ts'
import { quoteForShell, shortId } from '../format/text.ts'
import { formatExact } from '../format/time.ts'
import { modelName, tierName } from '../format/words.ts'
import { Copyable, Fact, Middle } from './base.tsx'
import { Ago, Elapsed } from './clock.tsx'
import { ContextGauge } from './context-gauge.tsx'

/** How much of the input came from the cache. */
export function cacheShare({ inputTokens, cacheReadTokens, cacheWriteTokens }: Run['usage']): number | null {
  const all = inputTokens + cacheReadTokens + cacheWriteTokens
  return all === 0 ? null : cacheReadTokens / all
}

export function RunFacts({ run, attempts }: { run: Run; attempts: readonly Attempt[] }) {
  const cached = cacheShare(run.usage)
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = run.usage
  return (
    <dl>
      <Fact name="agent">
        {run.agent} · {modelName(run.model)}
        {run.tier !== null && ` · ${tierName(run.tier)}`}
        {run.dryRun && ' · dry run'}
      </Fact>
      <Fact name="start">{startText(run)}</Fact>
      <Fact name="took">
        {run.startedAt ? <Elapsed from={run.startedAt} to={run.endedAt} /> : 'not started'}
        <span className="ml-2 text-muted" title={formatExact(run.createdAt)}>
          asked <Ago at={run.createdAt} />
        </span>
      </Fact>
      <Fact name="cost">{formatCost(run.costUsd, run.costEstimated)}</Fact>
      <Fact name="tokens">
        <span
          title={`input ${inputTokens}, from cache ${cacheReadTokens}, into cache ${cacheWriteTokens}, output ${outputTokens}`}
        >
          {formatTokens(inputTokens + cacheReadTokens + cacheWriteTokens)} in, {formatTokens(outputTokens)}{' '}
          out
          {cached !== null && <span className="text-muted"> · {formatPercent(cached)} from cache</span>}
        </span>
      </Fact>
      {run.contextTokens !== null && (
        <Fact name="context">
          <ContextGauge tokens={run.contextTokens} window={run.contextWindow} named={false} />
          {attempts.length > 1 && (
            <details className="text-small">
              <summary className="text-muted">after each attempt</summary>
              <ol>
                {attempts.map(({ id, number, contextTokens, contextWindow }) => (
                  <li key={id} className="flex gap-2">
                    <span className="w-18 text-muted">attempt {number}</span>
                    {contextTokens === null ? (
                      <span className="text-muted">not known</span>
                    ) : (
                      <ContextGauge
                        tokens={contextTokens}
                        window={contextWindow ?? run.contextWindow}
                        named={false}
                      />
                    )}
                  </li>
                ))}
              </ol>
            </details>
          )}
        </Fact>
      )}
      <Fact name="directory">
        <Middle text={run.workDir} max={40} mono />
      </Fact>
      {run.directorySettings === 'ignored' && (
        <Fact name="settings">
          those of the directory were left out
          {/* Runs at a tier never use them. */}
          {run.tier === null && (
            <span className="block text-muted">
              use them:{' '}
              <Copyable text={`reprise trust ${quoteForShell(run.workDir)}`} shown="reprise trust …" />
            </span>
          )}
        </Fact>
      )}
      {run.directorySettings === 'applied' && <Fact name="settings">those of the directory apply</Fact>}
      <Fact name="permissions">
        {run.permissions}
        {run.sandbox && run.sandbox !== 'none' && (
          <span className="text-muted"> · sandbox {run.sandbox}</span>
        )}
        {run.refusals > 0 && <span className="text-muted"> · {run.refusals} refused</span>}
      </Fact>
      {run.session && (
        <Fact name="session">
          <Link
            to="/sessions/$id"
            params={{ id: run.session }}
            className="font-mono text-small text-accent hover:underline"
          >
            {run.sessionId ? shortId(run.sessionId) : shortId(run.session)}
          </Link>
        </Fact>
      )}
      <Fact name="id">
        <code title={run.id}>{shortId(run.id)}</code>
      </Fact>
    </dl>
  )
}
