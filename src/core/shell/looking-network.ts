/** Programs that ask something of the network: with which options they only ask. */
import { givenOptions, optionList } from './option-list.ts'

/** A schema other than http may send more than a question; braces and brackets may make one. */
function isWebAddress(text: string): boolean {
  const rest = text.replace(/^https?:\/\/(\[[\da-f:]+\])?/i, '')
  if (/[{}[\]]/.test(rest)) return false
  return rest !== text || (!rest.includes('://') && !/^(ftps?|dict|ldap|imap|smtp|pop3)\./i.test(rest))
}

const CURL = optionList(
  '-sSfLkIivgGN#0146 -m: -H: -A: -e: -u: -w: -o: -D: -X: -r: -y: -Y: --silent --show-error --fail --fail-with-body --location --insecure --head --include --verbose --get --no-buffer --compressed --http1.1 --http2 --ipv4 --ipv6 --globoff --no-progress-meter --max-time= --connect-timeout= --retry= --retry-delay= --retry-max-time= --retry-connrefused --retry-all-errors --header= --user-agent= --referer= --user= --write-out= --output= --dump-header= --request= --resolve= --connect-to= --url= --max-redirs= --range= --noproxy= --path-as-is',
)

export function curlLooks(args: readonly string[]): boolean {
  const given = givenOptions(args, CURL)
  return (
    !!given?.operands.every(isWebAddress) &&
    given.options.every(({ name, value = '' }) => {
      switch (name) {
        case '-o':
        case '--output':
          return value === '/dev/null' || value === '-'
        case '-D':
        case '--dump-header':
          return value === '-'
        case '-X':
        case '--request':
          return value === 'GET' || value === 'HEAD'
        case '-H':
        case '--header':
          // `@file` sends what is in the file.
          return !value.startsWith('@')
        case '-w':
        case '--write-out':
          return !value.startsWith('@') && !value.includes('%output')
        case '--url':
          return isWebAddress(value)
        default:
          return true
      }
    })
  )
}

const IP = optionList(
  '-46sdhNojpct --json --pretty --brief --color? --stats --details --human --resolve --oneline',
)

/** `ip addr`, `ip -br link show dev x`, `ip route get 1.1.1.1`. */
export function ipLooks(args: readonly string[]): boolean {
  const plain = args.filter((arg) => !/^-(br|brief)$/.test(arg))
  const [, verb, ...rest] = givenOptions(plain, IP, { leading: true })?.operands ?? []
  if (verb === undefined) return plain.length > 0 && givenOptions(plain, IP, { leading: true }) !== undefined
  return /^(sh|show|ls|list|get)$/.test(verb) && rest.every((word) => /^[\w.:/@-]+$/.test(word))
}

const WGET = optionList(
  '-qSN -O: -T: -t: -U: --spider --timeout= --tries= --header= --no-check-certificate --server-response --quiet --no-verbose --output-document= --user-agent=',
)

/** Without `-O -` or `--spider` it writes a file. */
export function wgetLooks(args: readonly string[]): boolean {
  const plain = args.filter((arg) => arg !== '-nv')
  const given = givenOptions(plain, WGET)
  return (
    !!given?.operands.every(isWebAddress) &&
    given.options.some(
      ({ name, value }) => name === '--spider' || (/^(-O|--output-document)$/.test(name) && value === '-'),
    )
  )
}
