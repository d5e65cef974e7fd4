/**
 * Composes what an agent is told about its tier. It is short, because a resumed session knows everything else. The
 * list of forbidden commands only avoids useless attempts; the rules are enforced when tools are called.
 */
import type { Tier } from './tier.ts'

export interface BriefInput {
  tier: Tier
  highest: number
  never: readonly string[]
  protectedPaths: readonly string[]
  cooldowns: readonly { name: string; limit: number; per: string }[]
  dryRun: boolean
  /** Why the tier before escalated; null for the first run of a chain. */
  calledFor: string | null
  /** Whether the session contains the work of the tiers before. */
  resumed: boolean
  /** The run is a follow-up in a session that was given the brief of this tier before. */
  goesOn: boolean
  /** Whether one of the tier's tools runs commands. */
  hasShell: boolean
  /** The agent is given a schema for its signal; otherwise the brief describes the format. */
  bySchema: boolean
}

export function composeBrief(input: BriefInput): string {
  const { tier, calledFor, resumed, goesOn } = input
  if (goesOn && resumed)
    return [shortRole(input), ...(input.dryRun ? [DRY_RUN] : []), signal(input)].join('\n\n')
  const parts = [
    role(input),
    ...(tier.prompt ? [tier.prompt.trim()] : []),
    may(input),
    forbidden(input),
    ...(input.cooldowns.length > 0 ? [limits(input.cooldowns)] : []),
    ...(input.dryRun ? [DRY_RUN] : []),
    task(calledFor, resumed),
    signal(input),
  ]
  return parts.join('\n\n')
}

/** For a follow-up: the session was given the whole brief when it planned the follow-up. */
const shortRole = ({ tier, highest }: BriefInput) =>
  `You work as tier ${tier.number} of ${highest} (${tier.name}), with the same rights and limits as when you planned what is due now. Your task follows after this.`

function role({ tier, highest, calledFor, resumed }: BriefInput): string {
  const who = `tier ${tier.number} of ${highest} (${tier.name})`
  if (calledFor === null) return `You work as ${who} of an investigation.`
  const known = resumed
    ? 'Everything the tiers before you found and did is in this conversation.'
    : 'What the tiers before you found and did is in the handoff below.'
  return `You now work as ${who}. ${known} Do not run again what has been run.`
}

function may({ tier: { allow, tools }, hasShell }: BriefInput): string {
  const commands =
    allow === undefined
      ? 'Commands: any, except those below.'
      : allow.length === 0
        ? 'Commands: only those that merely look and change nothing.'
        : `Commands: those that merely look, and: ${list(allow)}.`
  return `You may use ${tools.join(', ')}. ${hasShell ? commands : ''}`.trim()
}

function forbidden({ tier, never, protectedPaths, highest }: BriefInput): string {
  const denied = tier.deny ?? []
  const later = denied.length > 0 ? ` At this tier also: ${list(denied)}.` : ''
  const paths = protectedPaths.length > 0 ? ` Never change: ${protectedPaths.join(', ')}.` : ''
  const instead =
    tier.number < highest
      ? 'recommend escalation if it is needed'
      : 'report what a person would have to do if it is needed'
  return `Forbidden: ${list(never)}.${later}${paths} Every call is checked when it is made; a refusal is final, however the command is written: ${instead}.`
}

function limits(cooldowns: BriefInput['cooldowns']): string {
  const rules = cooldowns.map(({ name, limit, per }) => `${name}: ${limit} per service in ${per}`)
  return `Limits, over all runs: ${rules.join('; ')}. $REPRISE_STATE_DIR/cooldown.json says what is left.`
}

const DRY_RUN =
  'This is a dry run: whatever would change something is refused. Find out what you would do, and report it as proposed actions.'

function task(calledFor: string | null, resumed: boolean): string {
  if (calledFor === null) return 'Your task follows after this.'
  const reason = `You were called because: ${calledFor}`
  return resumed ? `${reason}\nGo on with the same task from there.` : reason
}

function signal({ tier, highest, bySchema }: BriefInput): string {
  const last = tier.number >= highest ? ' There is no tier above you: "escalate" asks for a person.' : ''
  if (bySchema)
    return `When you are done, report by structured output; "escalate" says whether the next tier should take over.${last}`
  return `When you are done, end your answer with your report:
\`\`\`signal
{"status": "healthy | degraded | down | fixed | unknown", "summary": "…", "checks": [{"name": "…", "status": "ok | problem | unknown", "finding": "…"}], "services": ["…"], "actions": [{"action": "…", "outcome": "done | failed | refused | proposed"}], "escalate": true or false, "reason": "…"}
\`\`\`
It must be JSON; "escalate" says whether the next tier should take over.${last}`
}

const list = (patterns: readonly string[]) => patterns.map((pattern) => `\`${pattern}\``).join(', ')
