/** What is read in a shell text: the commands that are written out, and why the rest is not understood. */
import { describe, expect, test } from 'vitest'
import { readArguments, readShell } from '../../src/core/shell/read.ts'

const argvs = (text: string) =>
  readShell(text).commands.flatMap(({ argv }) => (argv.length > 0 ? [argv] : []))
const whys = (text: string) => readShell(text).unclear.map(({ why }) => why)

describe('commands that are written out', () => {
  test.each<[string, string[][]]>([
    ['docker ps -a', [['docker', 'ps', '-a']]],
    [`d"ock"er 'a b' c\\ d ""`, [['docker', 'a b', 'c d', '']]],
    ["$'\\x64ocker' x", [['docker', 'x']]],
    ['docker \\\n ps', [['docker', 'ps']]],
    ['a && b || c; d & e | f', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']]],
    ['! time (a; { b; })', [['a'], ['b']]],
    ['if a; then b; elif c; then d; else e; fi', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['while a; do b; done; until c; do d; done', [['a'], ['b'], ['c'], ['d']]],
    ['for x in 1 2; do a; done', [['a']]],
    ['case x in y) a ;; *) b ;; esac', [['a'], ['b']]],
    ['[[ -n x ]] && a', [['a']]],
    ['x=$(a) b', [['a'], ['b']]],
    ['cat <<EOF\n$(a)\nEOF', [['a'], ['cat']]],
    ["cat <<'EOF'\n$(a)\nEOF", [['cat']]],
    ['a <<< "$(b)"', [['b'], ['a']]],
    ['a # b', [['a']]],
    ['coproc a', [['a']]],
    ['', []],
  ])('%j', (text, expected) => {
    expect(argvs(text)).toEqual(expected)
    expect(whys(text)).toEqual([])
  })

  test('a pattern of file names stays as it is, and is marked', () => {
    expect(readShell("ls *.ts '*' a?").commands[0]).toMatchObject({
      argv: ['ls', '*.ts', '*', 'a?'],
      globs: [1, 3],
    })
  })

  test('redirections and assignments belong to their command', () => {
    expect(readShell('A=1 B=x ls > out 2>> err < in 2>&1 >&-').commands).toMatchObject([
      {
        argv: ['ls'],
        assignments: ['A=1', 'B=x'],
        redirects: [
          { op: '>', path: 'out' },
          { op: '>>', path: 'err' },
          { op: '<', path: 'in' },
        ],
      },
    ])
    expect(readShell('{ ls; } &> all').commands[0]).toMatchObject({
      argv: [],
      redirects: [{ op: '&>', path: 'all' }],
    })
    expect(
      readShell('export A=1 B; for PATH in x; do ls; done').commands.map((one) => one.assignments),
    ).toEqual([['A=1', 'B='], ['PATH='], []])
  })

  test('every directory in which a command may run is named', () => {
    const last = (text: string) => readShell(text).commands.at(-1)?.cwds
    expect(last('ls')).toEqual([''])
    expect(last('cd a && cd b; ls')).toEqual(['', 'a/', 'b/', 'a/b/'])
    expect(last('cd a; cd b; cd c; ls')).toEqual([null])
    expect(last('cd /x; ls')).toEqual(['', '/x/'])
    expect(last('cd; ls')).toEqual(['', '~/'])
    expect(last('cd "$X"; ls')).toEqual(['', null])
    expect(last('cd -; ls')).toEqual(['', null])
  })
})

describe('wrappers', () => {
  test.each<[string, string[][]]>([
    ["sh -c 'a; b'", [['a'], ['b']]],
    [`bash -euo pipefail -c "sh -c 'a b'"`, [['a', 'b']]],
    ['env -u Y X=1 a b', [['a', 'b']]],
    ['timeout -k 5 10 a', [['a']]],
    ['nice -n 5 nohup setsid stdbuf -oL a', [['a']]],
    ['command -p a; builtin b; exec c', [['a'], ['b'], ['c']]],
    ['command -v a', [['command', '-v', 'a']]],
    ['sudo -u x -n a', [['a']]],
    ['x | xargs -0 -n 5 a b', [['x'], ['xargs'], ['a', 'b']]],
    [
      'find . -name x -exec a {} \\; -exec b {} +',
      [
        ['find', '.', '-name', 'x'],
        ['a', '{}'],
        ['b', '{}'],
      ],
    ],
  ])('%s', (text, expected) => {
    expect(argvs(text)).toEqual(expected)
    expect(whys(text)).toEqual([])
  })

  test('what they change is known of what they start', () => {
    expect(readShell('sudo a').commands).toMatchObject([{ elevated: true }])
    expect(readShell("sudo sh -c 'a'").commands).toMatchObject([{ argv: ['a'], elevated: true }])
    expect(readShell('xargs a').commands[1]).toMatchObject({ argv: ['a'], openEnded: true })
    expect(readShell('env A=1 a').commands).toMatchObject([{ assignments: ['A=1'] }])
    expect(readShell('for i in 1; do a; done').commands[1]).toMatchObject({ argv: ['a'], repeated: true })
    expect(readShell("python3 -c 'x'").commands).toMatchObject([
      { opaque: expect.stringContaining('python3') },
    ])
    expect(readShell('bash x.sh').commands).toMatchObject([{ opaque: 'runs the script x.sh' }])
  })

  test('an argument list is read without a shell', () => {
    expect(
      readArguments(['timeout', '5', 'sh', '-c', 'a | b', '$x']).commands.map(({ argv }) => argv),
    ).toEqual([['a'], ['b']])
    expect(readArguments(['a', '$x', '*']).commands).toMatchObject([{ argv: ['a', '$x', '*'], globs: [] }])
  })
})

describe('what is not understood', () => {
  test.each([
    ['ls $X', /has \$X, which only the running shell knows/],
    ['ls "$X"', /only the running shell knows/],
    ['$X', /only the running shell knows/],
    ['ls `a`', /only the running shell knows/],
    ['ls <(a)', /only the running shell knows/],
    ['ls $"x"', /only the running shell knows/],
    ['ls {a,b}', /becomes several words/],
    ['ls @(a|b)', /shells read in different ways/],
    ['/usr/bin/l* x', /pattern in the place of a program/],
    ['eval "a b"', /puts a text together/],
    ['source x', /commands of a file/],
    ['. x', /commands of a file/],
    ['trap a EXIT', /runs a text later/],
    ['alias a=b', /other names/],
    ['bash', /feeds commands to a shell/],
    ['a | sh', /feeds commands to a shell/],
    ['bash <<EOF\na\nEOF', /feeds commands to a shell/],
    ['xargs sudo', /name of a program from its input/],
    ['xargs -I{} {} x', /name of a program from its input/],
    ['sudo -X a', /an option of sudo that is not known/],
    ['env -S "a b"', /an option of env that is not known/],
    ['bash -o keyword -c a', /an option of the shell/],
    ['f() { a; }; f', /calls f, which it defines itself/],
    ['f; f() { a; }', /calls f, which it defines itself/],
    ['sudo() { a; }; sudo ls', /calls sudo/],
    ['ls > $X', /redirection that is not written out/],
    ['<&-touch ls', /redirection that shells read in different ways/],
    ['tee /dev/stdout 1< x', /another descriptor/],
    ['(( x ))', /evaluates an expression/],
    ['echo $((x))', /evaluates an expression/],
    ['[[ x -eq 1 ]]', /evaluates an expression/],
    ['[[ -v x ]]', /name of a variable/],
    ['a[$(b)]=1', /evaluates an expression/],
    ['x=${y@P}', /what a variable holds/],
    ['x=${!y}', /what a variable holds/],
    ['declare -i x=1', /not a plain variable/],
    ['for i in 1; do cd ..; done', /changes the directory in a loop/],
    ["ls 'a", /not what a shell accepts/],
    ['ls )', /not what a shell accepts/],
  ])('%s', (text, why) => {
    expect(whys(text)).toContainEqual(expect.stringMatching(why))
  })

  test('what it starts to compute a word is still found', () => {
    expect(argvs('ls $(a) `b` "${x:-$(c)}" <(d) > >(e)')).toEqual([['e'], ['a'], ['b'], ['c'], ['d']])
  })

  test('echo may be given anything, because it prints it', () => {
    expect(whys('echo "$X" $(a)')).toEqual([])
    expect(argvs('echo "$X" $(a)')).toEqual([['a'], ['echo']])
  })
})

describe('bounds', () => {
  const times = (text: string, count: number) => text.repeat(count)
  test.each([
    ['a text that is too long', 'x'.repeat(100_001), /longer than 100000/],
    ['too many commands', times('ls;', 2001), /more than 2000 commands/],
    ['too many words that are not written out', times('$x;', 2001), /too much/],
    ['braces that are never closed', `echo ${times('{', 90_000)}`, /too many braces/],
    ['braces in braces', `echo ${times('{a,', 20_000)}${times('}', 20_000)}`, /too many braces/],
    ['substitutions in substitutions', `${times('$(', 20_000)}${times(')', 20_000)}`, /nested too deeply/],
    ['wrappers around wrappers', `${times('sudo ', 1000)}ls`, /nested too deeply/],
    ['many here-documents', times('cat <<E;', 12_000), /too many here-documents/],
    ['too many words', `rm ${times('x ', 5001)}`, /more than 5000 words/],
    ['many programs started by one', `find . ${times('-exec cat {} \\; ', 5000)}`, /more than 2000/],
  ])('%s', (_, text, why) => {
    expect(readShell(text)).toMatchObject({ commands: [], unclear: [{ why: expect.stringMatching(why) }] })
  })

  test('a value that doubles is never expanded', () => {
    const text = `a=x; ${times('a=$a$a; ', 27)}cat $a`
    expect(whys(text)).toEqual(['has $a, which only the running shell knows'])
  })

  test('nested parentheses and sums are refused by the parser', () => {
    for (const text of [`${times('(', 40_000)}ls`, `echo ${times('$((', 10_000)}1`])
      expect(whys(text)).toContainEqual(expect.stringMatching(/not what a shell accepts/))
  })

  test('a long but plain command is read', () => {
    const text = `cat > /tmp/notes <<'END'\n${times('{"service": "jellyfin", "state": [1, 2, 3]}\n', 2000)}END`
    expect(argvs(text)).toEqual([['cat']])
  })
})
