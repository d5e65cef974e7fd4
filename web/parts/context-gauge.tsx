/** A gauge of the context window. */
import { formatPercent, formatTokens } from '../format/amounts.ts'

/** How full the context window is. Without `named` the word "context" is left out, because it stands beside the gauge. */
export function ContextGauge({
  tokens,
  window,
  named = true,
}: {
  tokens: number | null
  window: number | null
  named?: boolean
}) {
  if (tokens === null) return null
  if (window === null || window === 0) {
    return (
      <span className="whitespace-nowrap text-muted" title="tokens in the context window">
        {formatTokens(tokens)} tokens
      </span>
    )
  }
  const share = Math.min(1, tokens / window)
  const colour = share > 0.8 ? 'bg-ask' : 'bg-accent'
  return (
    <span
      className="inline-flex items-center gap-1.5 whitespace-nowrap text-muted"
      title={`${formatTokens(tokens)} of ${formatTokens(window)} tokens of the context window`}
    >
      <span aria-hidden="true" className="inline-block h-1.5 w-12 overflow-hidden rounded-full bg-line">
        <span className={`block h-full ${colour}`} style={{ width: `${Math.max(2, share * 100)}%` }} />
      </span>
      <span>
        {formatPercent(share)} <span className={named ? 'max-sm:sr-only' : 'sr-only'}>context</span>
      </span>
    </span>
  )
}
