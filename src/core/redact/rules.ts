/**
 * The built-in rules for secrets of a known form. Every pattern takes time in proportion to the length of the text:
 * repetitions are bounded, and text that did not match is not scanned again from its middle.
 *
 * Most texts contain no secret, so the first check must be cheap: each rule has hints, and one of them matches wherever
 * its pattern can match, in JSON as well. Hints are tested group by group. Within a group all hints have the same shape
 * (the same few characters at the same place), because then the regular expression engine can skip ahead instead of
 * trying every position.
 */
import { ANNOUNCED } from './announced.ts'
import { assignment, isRandom } from './assignment.ts'
import { privateKey } from './private-key.ts'
import type { Rule } from './rule.ts'

export interface RuleGroup {
  hint: RegExp
  rules: readonly Rule[]
}

/** A token does not begin in the middle of a word. In JSON, the letter before it may belong to an escape. */
const EDGE = String.raw`(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbfv])|(?<=\\u[0-9a-fA-F]{4}))`

const token = (kind: string, hints: readonly string[], source: string): Rule => ({
  kind,
  hints,
  pattern: new RegExp(`${EDGE}(?:${source})`, 'g'),
})

/** The fourth character of each hint is a dash. */
const DASHED: readonly Rule[] = [
  token(
    'github-token',
    ['gh[opsur]_', 'pat[_-]'],
    'gh[opsur]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255}',
  ),
  token('gitlab-token', ['pat[_-]'], 'glpat-[A-Za-z0-9_-]{20,300}'),
  token('docker-token', ['pat[_-]'], 'dckr_pat_[A-Za-z0-9_-]{20,255}'),
  token('slack-token', ['ox[abeoprs]-'], 'xox[abeoprs]-[A-Za-z0-9-]{10,255}'),
  token('anthropic-key', ['[^]sk-'], 'sk-ant-[A-Za-z0-9_-]{20,255}'),
  token(
    'openai-key',
    ['[^]sk-'],
    'sk-(?:(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{20,255}|[A-Za-z0-9]{32,255})',
  ),
  token('stripe-key', ['ive_', 'sec_'], '[sr]k_live_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{24,255}'),
  token('reprise-token', ['rpt_'], 'rpt_[A-Za-z0-9_-]{43}'),
  token('npm-token', ['npm_'], 'npm_[A-Za-z0-9]{36,255}'),
  token('pypi-token', ['ypi-'], 'pypi-[A-Za-z0-9_-]{50,500}'),
  token('digitalocean-token', ['_v1_'], 'do[opr]_v1_[a-f0-9]{64}'),
]

/** Each hint has four rare characters in a row. */
const MARKED: readonly Rule[] = [
  token('aws-access-key', ['AKIA', 'ASIA'], 'A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])'),
  token('google-key', ['AIza'], 'AIza[A-Za-z0-9_-]{35}'),
  {
    kind: 'jwt',
    hints: ['[^]eyJ'],
    // Matches only at the start of a sequence of such characters, so that no sequence is scanned twice.
    pattern: /(?:(?<![\w-])|(?<=\\[nrtbfv]))eyJ[\w-]{8,8192}\.eyJ[\w-]{8,16384}\.[\w-]{0,2048}/g,
  },
  privateKey,
  {
    kind: 'bearer',
    hints: ['eare'],
    pattern: /(?<head>\bbearer {1,3})(?<value>[\w.~+/=-]{16,8192})/gi,
    fits: isRandom,
  },
  {
    kind: 'basic-auth',
    hints: ['asic [A-Za-z0-9+/]{8}'],
    pattern: /(?<head>\bbasic {1,3})(?<value>[A-Za-z0-9+/]{8,1024}={0,2})/gi,
    fits: isNameAndPassword,
  },
  {
    kind: 'authorization',
    hints: ['riza'],
    pattern:
      /(?<head>authorization\\{0,4}["']? {0,3}[:=] {0,3}\\{0,4}["']?(?:[a-z]{3,12} {1,3})?)(?<value>[^\s"'`\\,;<>]{8,8192})/gi,
    fits: (value) => !isPlaceholder(value) && /\d|[a-z].*[A-Z]|[A-Z].*[a-z]/.test(value.slice(0, 200)),
  },
  {
    kind: 'password',
    hints: ['[^]://[^\\s"\'/?#@\\\\]{4,400}@'],
    pattern: /(?<head>:\/\/[^\s"'`/?#@:\\<>]{0,128}:)(?<value>[^\s"'`/?#@\\<>]{3,256})(?=@)/g,
    fits: (value) => !isPlaceholder(value),
  },
]

/** Whether the value is `user:password` in base64. */
function isNameAndPassword(value: string): boolean {
  try {
    return /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(atob(value))
  } catch {
    return false
  }
}

const isPlaceholder = (value: string) => /^[$<{%*]/.test(value)

const groupOf = (rules: readonly Rule[], rest = ''): RuleGroup => ({
  rules,
  hint: new RegExp(`(?:${[...new Set(rules.flatMap(({ hints }) => hints))].join('|')})${rest}`),
})

const announced = groupOf(ANNOUNCED)

export const BUILT_IN: readonly RuleGroup[] = [
  groupOf(DASHED, '[A-Za-z0-9_-]{10}'),
  groupOf(MARKED),
  groupOf([assignment]),
  announced,
]

/** Matches the words that may announce a secret of any form. */
export const ANNOUNCING = announced.hint
