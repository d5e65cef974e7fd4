/** curl, wget, ssh and others that talk to machines: which calls only look. */
import type { Field } from '../command.ts'
import { givenOptions, optionList } from '../given-options.ts'

const CURL = optionList(
  '-sSfLIikvgGNq#460123 -m: -w: -H: -A: -e: -u: -x: -o: -X: -b: -r: -y: -Y: -D: -d:',
  '--silent --show-error --fail --fail-with-body --location --head --include --verbose --insecure --max-time= --connect-timeout= --retry= --retry-delay= --retry-max-time= --retry-connrefused --retry-all-errors --header= --user-agent= --referer= --user= --proxy= --output= --request= --write-out= --cookie= --range= --compressed --resolve= --connect-to= --cacert= --capath= --cert= --key= --http1.0 --http1.1 --http2 --http2-prior-knowledge --http3 --ipv4 --ipv6 --globoff --get --data= --data-urlencode= --data-raw= --no-progress-meter --progress-bar --path-as-is --max-redirs= --max-filesize= --limit-rate= --url= --interface= --noproxy= --tlsv1.2 --tlsv1.3 --tls-max= --no-buffer --proto= --oauth2-bearer= --digest --basic --anyauth --no-keepalive --keepalive-time= --speed-limit= --speed-time= --dump-header= --trace-time --disable --version --help --no-sessionid --false-start --happy-eyeballs-timeout-ms= --dns-servers= --doh-url= --haproxy-protocol --styled-output --no-styled-output',
)
const NOWHERE = /^(-|\/dev\/(null|stdout|stderr))$/
/** May be unknown: whatever it is, it is said to the other side. */
const SPOKEN =
  /^(-[HAeubmxrd]|--(header|user-agent|referer|user|cookie|max-time|proxy|range|data|data-urlencode|data-raw|oauth2-bearer|resolve|connect-to|connect-timeout))$/

/** By HTTP: written out, or of a host that is not named like another protocol. curl expands braces by itself. */
const PLACE = /^(https?:\/\/|(?!(dict|ftp|imap|ldap|pop3|smtp)\.)([\w.-]+|\[[\da-f:.]+\])(:\d+)?([/?#]|$))/i

export function curlLooks(fields: readonly Field[]): boolean {
  const given = givenOptions(fields, CURL, { trusting: true })
  if (!given) return false
  const asks = given.options.some(({ name }) => name === '-G' || name === '--get')
  const places = [
    ...given.operands,
    ...given.options.flatMap(({ name, value }) => (name === '--url' && value ? [value] : [])),
  ]
  return (
    given.options.every(({ name, value }) => {
      const text = value?.text ?? ''
      if (value?.unknown && !value.tame && !SPOKEN.test(name)) return name === '--url'
      if (/^(-o|--output|-D|--dump-header)$/.test(name)) return NOWHERE.test(text)
      if (/^(-X|--request)$/.test(name)) return /^(GET|HEAD|OPTIONS)$/.test(text)
      // `%output{file}` writes, and so may a format that stands in a file.
      if (/^(-w|--write-out)$/.test(name)) return !text.includes('%output') && !text.startsWith('@')
      if (/^(-d|--data.*)$/.test(name)) return asks
      return true
    }) &&
    places.every(({ text, unknown, tame, glob }) =>
      (unknown || (glob && /^[*?[]/.test(text))) && !tame ? /^https?:\/\//.test(text) : PLACE.test(text),
    )
  )
}

const WGET = optionList(
  '-qSv46 -O: -T: -t: -U: --spider --quiet --server-response --timeout= --connect-timeout= --read-timeout= --tries= --header= --user-agent= --no-check-certificate --output-document= --max-redirect= --no-verbose --content-on-error --no-proxy --user= --password= --no-cache --inet4-only --inet6-only --save-headers',
)

export function wgetLooks(fields: readonly Field[]): boolean {
  const given = givenOptions(
    fields.filter(({ text }) => text !== '-nv'),
    WGET,
  )
  if (!given) return false
  const written = given.options.filter(({ name }) => name === '-O' || name === '--output-document')
  return (
    (written.length > 0 || given.options.some(({ name }) => name === '--spider')) &&
    written.every(({ value }) => NOWHERE.test(value?.text ?? ''))
  )
}

const SSH = optionList('-qTntvx46CAaMVk -p: -l: -i: -o: -c: -m: -b: -B: -e: -Q:')
const SSH_SETTINGS =
  /^(BatchMode|ConnectTimeout|ConnectionAttempts|StrictHostKeyChecking|LogLevel|ServerAliveInterval|ServerAliveCountMax|PasswordAuthentication|KbdInteractiveAuthentication|PubkeyAuthentication|PreferredAuthentications|NumberOfPasswordPrompts|IdentitiesOnly|IdentityFile|Port|User|HostName|Compression|TCPKeepAlive|RequestTTY|AddressFamily|ForwardAgent|ForwardX11|HostKeyAlias|CheckHostIP|HostKeyAlgorithms|PubkeyAcceptedKeyTypes|PubkeyAcceptedAlgorithms|KexAlgorithms|Ciphers|MACs|ControlMaster|UpdateHostKeys)[ =]/i

/** What it starts there is a command of its own. Behind the host, options may follow once more. */
export function sshLooks(fields: readonly Field[]): boolean {
  const given = givenOptions(fields, SSH, { leading: true })
  const behind = given && givenOptions(given.rest, SSH, { leading: true, trusting: true })
  if (!behind) return false
  return [...given.options, ...behind.options].every(({ name, value }) => {
    if (name !== '-o') return true
    const text = value?.text ?? ''
    return SSH_SETTINGS.test(text) || /^(Global|User)KnownHostsFile[ =]\/dev\/null$/i.test(text)
  })
}

const IP_OPTION =
  /^-(4|6|s|d|o|j|p|c|r|h|N|br|brief|color|json|pretty|details|stats|statistics|oneline|human|resolve)$/
const IP_OBJECT =
  /^(a|addr|address|r|route|l|link|n|neigh|neighbor|neighbour|ru|rule|maddr|maddress|mroute|tunnel|netns|ntable|nexthop|vrf|xfrm)$/

/** Verbs may be abbreviated, so only those that are written out. */
export function ipLooks(fields: readonly Field[]): boolean {
  const texts = fields.map(({ text }) => text)
  const from = texts.findIndex((text) => !IP_OPTION.test(text))
  if (from === -1) return true
  const [object = '', verb, third] = texts.slice(from)
  if (object === 'monitor') return true
  if (object === 'xfrm')
    return /^(state|policy)$/.test(verb ?? '') && /^(show|list|ls)$/.test(third ?? 'show')
  return (
    IP_OBJECT.test(object) &&
    (verb === undefined ||
      /^(show|list|ls|lst|sh)$/.test(verb) ||
      (verb === 'get' && /^r(oute)?$/.test(object)))
  )
}

const SS = optionList(
  '-tulnpaemiosxwdHhrNOZzSEgbMVT046 -f: -A: --tcp --udp --raw --unix --listening --numeric --processes --all --extended --memory --info --options --summary --ipv4 --ipv6 --no-header --oneline --resolve --family= --query= --socket= --version --help --threads --cgroup --bpf --context --tos',
)
export const ssLooks = (fields: readonly Field[]) => givenOptions(fields, SS) !== undefined

const X509 = optionList(
  '-in!: -inform!: -noout! -text! -dates! -enddate! -startdate! -subject! -issuer! -fingerprint! -sha1! -sha256! -sha512! -md5! -serial! -checkend!: -checkhost!: -checkip!: -ext!: -pubkey! -nameopt!: -certopt!: -purpose! -hash! -subject_hash! -issuer_hash! -modulus! -alias! -email! -ocsp_uri! -ocspid! -dateopt!:',
)
const VERIFY = optionList(
  '-CAfile!: -CApath!: -untrusted!: -trusted!: -verbose! -purpose!: -show_chain! -partial_chain! -verify_hostname!: -crl_check! -no-CAfile! -no-CApath!',
)
const S_CLIENT = optionList(
  '-connect!: -host!: -port!: -servername!: -noservername! -showcerts! -verify_return_error! -verify!: -verify_hostname!: -CAfile!: -CApath!: -tls1! -tls1_1! -tls1_2! -tls1_3! -no_tls1_3! -no_tls1_2! -brief! -status! -starttls!: -alpn!: -prexit! -quiet! -cipher!: -ciphersuites!: -groups!: -state! -tlsextdebug! -proxy!: -no_ign_eof! -4! -6! -crlf! -reconnect!',
)

/** `fed`: it is given something to read, which s_client sends. */
export function opensslLooks([first, ...rest]: readonly Field[], fed: boolean): boolean {
  switch (first?.text) {
    case 'version':
      return rest.every(({ text }) => /^-[abdefopvrc]$/.test(text))
    case 'x509':
      return givenOptions(rest, X509) !== undefined
    case 'verify':
      return givenOptions(rest, VERIFY) !== undefined
    case 's_client':
      return !fed && givenOptions(rest, S_CLIENT) !== undefined
    default:
      return false
  }
}

const NC = optionList('-zvnu46t -w: -i: -G:')

export function ncLooks(fields: readonly Field[]): boolean {
  return !!givenOptions(fields, NC)?.options.some(({ name }) => name === '-z')
}
