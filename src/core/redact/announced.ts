/**
 * Rules for secrets that nothing but the words before them announces: in arguments of commands, in headers and in
 * configuration files. Such a secret may be a plain word, so it is looked for only behind these words. The distance
 * between the words and the secret is bounded (`REACH`).
 */
import type { Rule } from './rule.ts'

/** How far before a secret the words that announce it may begin. */
export const REACH = 400

const QUOTE = String.raw`\\{0,4}["']?`
/** Also where JSON escapes them. */
const SPACES = String.raw`(?:\s|\\{1,4}[nrt]){1,8}`
const WORD = String.raw`[^\s"'\x60\\;|&<>]`

const isValue = (value: string) => !/^[$<{%*[(]/.test(value)

const behind = (kind: string, hints: readonly string[], head: string, value: string): Rule => ({
  kind,
  hints,
  pattern: new RegExp(`(?<head>${head})(?<value>${value})`, 'gi'),
  fits: isValue,
})

/** `1000:1000` is a user and a group. */
const isPassword = (value: string) => isValue(value) && !/^\d+$/.test(value)

export const ANNOUNCED: readonly Rule[] = [
  {
    ...behind(
      'password',
      ['curl'],
      String.raw`\s(?:-u|-U|--user|--proxy-user)[ =]{0,3}${QUOTE}[^\s"'\x60:$<>\\]{1,100}:`,
      `${WORD}{1,128}`,
    ),
    fits: isPassword,
    command: /\bcurl\b/,
  },
  {
    ...behind(
      'cookie',
      ['curl'],
      String.raw`\s(?:-b|--cookie)[ =]{1,3}${QUOTE}[\w.-]{1,100}=`,
      String.raw`[^\s"'\x60\\|&<>]{1,4096}`,
    ),
    command: /\bcurl\b/,
  },
  {
    ...behind('password', ['ysql', 'aria'], String.raw`\s-p${QUOTE}`, `${WORD}{1,128}`),
    command: /\b(?:mysql|mariadb)/,
  },
  behind('password', ['hpas'], String.raw`\bsshpass\s{1,3}-p\s{0,3}${QUOTE}`, `${WORD}{1,128}`),
  behind('password', ['-pas'], `--pass(?:word|wd)?=${QUOTE}`, `${WORD}{1,128}`),
  behind(
    'password',
    ['_PWD', 'PASS'],
    String.raw`\b(?:MYSQL_PWD|PGPASSWORD|SSHPASS)=${QUOTE}`,
    `${WORD}{1,128}`,
  ),
  behind(
    'password',
    ['chin'],
    String.raw`\bmachine${SPACES}[\w.:-]{1,100}${SPACES}(?:login${SPACES}[^\s\\]{1,100}${SPACES})?password${SPACES}`,
    String.raw`[^\s"'\x60\\]{1,256}`,
  ),
  {
    ...behind(
      'cookie',
      ['okie'],
      String.raw`\b(?:set-)?cookie\\{0,4}["']?\s{0,3}:\s{0,3}${QUOTE}`,
      String.raw`[\w!#$%&*+.^|~-]{1,100}=[^\r\n"'\x60\\<>]{1,4096}`,
    ),
    rest: /[^\r\n"'`\\<>]*/y,
  },
  behind(
    'client-key',
    ['-dat'],
    String.raw`client-key-data\\{0,4}["']?\s{0,3}:\s{0,3}${QUOTE}`,
    '[A-Za-z0-9+/=]{16,16384}',
  ),
  behind(
    'webhook',
    ['hook'],
    String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/`,
    '[A-Za-z0-9/_-]{16,200}',
  ),
  behind(
    'webhook',
    ['hook'],
    String.raw`discord(?:app)?\.com/api/(?:v\d{1,3}/)?webhooks/\d{5,25}/`,
    '[A-Za-z0-9_-]{16,120}',
  ),
  behind('webhook', ['hook'], String.raw`webhook\.office\.com/webhookb2/`, '[A-Za-z0-9@/_-]{32,300}'),
  behind(
    'bot-token',
    ['bot\\d'],
    String.raw`api\.telegram\.org/(?:file/)?bot`,
    String.raw`\d{5,15}:[\w-]{30,60}`,
  ),
]
