/**
 * Whether we see what a shell really starts. Each text is run by the real bash, with nothing on PATH but programs that
 * record how they were called, and compared with what was extracted.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { extractCommands } from '../../src/core/policy/walk.ts'
import { endGroup } from '../support/end-group.ts'

let root: string
let bash: string

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-policy-')))
  bash = execFileSync('sh', ['-c', 'command -v bash'], { encoding: 'utf8' }).trim()
  mkdirSync(join(root, 'bin'))
  mkdirSync(join(root, 'work'))
  for (const name of ['docker', 'rm', 'git', 'sudo-target']) {
    const file = join(root, 'bin', name)
    writeFileSync(
      file,
      `#!${bash}\n{ printf '%s' ${name}; printf '\\037%s' "$@"; printf '\\036'; } >> "${root}/calls"\n`,
    )
    chmodSync(file, 0o755)
  }
  // Programs that only start others, and so may be real.
  for (const name of ['env', 'xargs', 'timeout', 'nice', 'nohup', 'cat', 'sh', 'find', 'setsid', 'stdbuf']) {
    const real = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    symlinkSync(realpathSync(real), join(root, 'bin', name))
  }
  symlinkSync(bash, join(root, 'bin', 'bash'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function reallyStarted(text: string): string[] {
  writeFileSync(join(root, 'calls'), '')
  // The types of spawnSync do not know `detached`, which it understands: a process group of its own.
  const options = {
    cwd: join(root, 'work'),
    env: { PATH: join(root, 'bin'), HOME: join(root, 'work') },
    timeout: 10_000,
    stdio: 'ignore' as const,
    detached: true,
  }
  const { pid } = spawnSync(bash, ['--norc', '--noprofile', '-c', text], options)
  endGroup(pid)
  return readFileSync(join(root, 'calls'), 'utf8')
    .split('\x1e')
    .filter(Boolean)
    .map((call) => call.replaceAll('\x1f', ' ').trim())
}

function extracted(text: string): string[] {
  const where = {
    cwd: join(root, 'work'),
    home: join(root, 'work'),
    realpath: (path: string) => path,
    exists: () => false,
  }
  return extractCommands(text, where)
    .commands.map(({ words }) =>
      words
        .map((word) => word.text)
        .join(' ')
        .trim(),
    )
    .filter((command) => /^(docker|rm|git)\b/.test(command))
}

describe('what bash starts is what is extracted', () => {
  test.each([
    'docker system prune',
    'd"ock"er s\\ystem $\'\\x70rune\'',
    '{docker,system,prune}',
    'docker {a,b{c,d}} {1..3}',
    'A=sys B=tem; docker $A$B "${A}x" ${NOPE:-prune}',
    'C="docker system prune"; $C -f',
    'set -- system prune; docker "$@"; docker $1',
    'f() { docker "$@"; docker $2; }; f system prune',
    'docker a && docker b || docker c; (docker d); { docker e; }',
    'if docker a; then docker b; fi',
    'for w in x y; do docker $w; done',
    'case x in x) docker a;; esac',
    'echo $(docker a) "`docker b`"; X=$(docker c)',
    'cat <(docker a) > /dev/null',
    'sh -c \'docker a; docker "$1"\' _ b',
    // No -l: a login shell reads /etc/profile, which sets another PATH.
    'bash -c "docker a"',
    "sh <<'E'\ndocker a\nE",
    'bash -s <<< "docker a"',
    "printf 'docker %s\\n' a b | sh",
    "echo 'docker a' | bash",
    "eval 'docker' a; eval \"eval 'docker b'\"",
    'env -i PATH="$PATH" A=b docker a',
    "env -S 'docker a' b",
    'timeout 5 docker a; nice -n 1 docker b; nohup docker c; command docker d; setsid -w docker e',
    'echo a b | xargs docker',
    'echo a | xargs -I{} docker x{}',
    String.raw`echo "'a b' c\\ d" | xargs docker; printf 'a b c' | xargs -n 2 docker`,
    "printf 'a #;b' | xargs -d ';' -I{} docker x{}",
    `env -S "docker a 'b c'" d; env x.y=1 docker e`,
    String.raw`printf 'docker a #\0123=1;docker b' | bash; printf 'docker "c\"; docker d; \""' | bash`,
    String.raw`echo 'docker a \t#;docker b' | bash; printf 'do\0cker c' | bash`,
    'find . -maxdepth 0 -exec docker a \\;',
    "trap 'docker a' EXIT",
    'exec docker a',
    'X=rm; $X -rf nothing; r\\m x; "rm" y',
    'cat <<E | sh\ndocker a\nE',
    'docker a > /dev/null 2>&1; > /dev/null docker b',
    '[[ -n $(docker a) ]]; (( $(docker b) + 1 )); docker c',
    'docker "a b" \'c d\' e\\ f',
    'git -C x push "--force" orig""in',
    // Evaluated once more, although they are quoted.
    'a[$(docker a)]=1; a[$(docker b)]=1 docker c; b=([$(docker d)]=1)',
    "let 'a[$(docker a)]=1'; unset 'a[$(docker b)]'",
    'x=\'$(docker a)\'; : "${x@P}"',
    "[[ -v 'a[$(docker a)]' ]]; test -v 'a[$(docker b)]'; [ -v 'a[$(docker c)]' ]",
    "[[ 'a[$(docker a)]' -eq 0 ]]; printf -v 'a[$(docker b)]' x; read 'a[$(docker c)]' <<< y",
    "declare 'a[$(docker a)]=1'; export x='a[$(docker b)]'; : $((x)); bash -c ': $((x))'",
    "x='a[$(docker a)]'; : ${HOME:x}; ((x)); : ${b[x]} ${#b[x]} ${!x}; b[x]=1",
    "x='a[$(docker a)]'; y=x; for ((i=y;i<1;i++)); do :; done",
    "f() { : $(($1)); }; f 'a[$(docker a)]'; set -- 'a[$(docker b)]'; : $(($1))",
    "declare -i n; n='a[$(docker a)]'",
    "for i in 1 2; do : $((x)); x='a[$(docker a)]'; done",
    "mapfile -C 'docker a #' -c 1 x <<< y; jobs -x docker b",
    "exec <<< 'docker a'; bash",
    // What fails is not done, and takes the rest of its line with it.
    'x=docker; { x=echo; } </nope; $x a; f() { x=rm; }; f </nope; $x b',
    'x=docker\n: $((1/0)); x=echo\n$x a\nreadonly r=1\nr=2; x=echo\n$x b',
    "x=echo; trap '$x a' EXIT; x=docker",
    'sh <<E\necho "a\\\\\\"; docker a #"\nE',
    // What a shell holds changes.
    'a=(docker a "b c"); "${a[@]}"; ${a[@]}; ${a[0]} ${a[2]}; a+=(d); "${a[@]}"; "${a[@]:1:2}"; docker "${a[*]}"',
    'x=aXbXc; docker ${x/X/_} ${x//X/} ${x#a} ${x%X*} ${x%%X*} ${x##*X} ${x^^} ${x:1:3} ${x: -2} ${x/#a/b} ${x/%c/d}',
    'x=y y="a b"; docker "${!x}" ${!x}; IFS=_; z=b_c; docker $z; set -- d e; docker "$*"',
    'set docker a; "$@"; set -- docker b c; shift; docker "$@" ${@:2} "${@:1:1}"',
    'x=docker; for i in 1 2; do $x a; x="docker b"; done; while $x c; do x="docker d"; [[ $y ]] && break; y=1; done',
    'f() { local x="docker a"; $x; return; x="docker b"; }; x="docker c"; f; $x; x="docker d" f; f() { $x; }; x="docker e" f',
    "export x='docker a'; y='docker b'; bash -c '$x; $y c; docker ${y:-d} ${x:+e}'",
    'set -- docker a; shift 5; "$@"; x=docker; declare -Z x=echo; $x b',
    'f() { local x="docker a"; declare -g x="docker b"; $x; x=ls; }; x=ls; f; $x; set() { :; }; set -- ls; docker "$@"',
    ': ${x:=docker a}; $x; ${nope+echo} docker b; docker ~ ~/x',
  ])('%s', (text) => {
    const started = new Set(reallyStarted(text))
    expect(started.size).toBeGreaterThan(0)
    // What only bash knows may be extracted with more alternatives, never with fewer.
    expect([...started].filter((call) => !extracted(text).includes(call))).toEqual([])
  })

  test.each([
    "echo 'docker a'",
    "cat <<'E'\n$(docker a)\nE",
    '# docker a',
    "printf 'docker a' > /dev/null",
    'X="docker a"',
  ])('nothing in %s', (text) => {
    expect(reallyStarted(text)).toEqual([])
    expect(extracted(text)).toEqual([])
  })
})
