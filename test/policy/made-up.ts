/**
 * Shell texts by chance, in which variables, arguments, functions and traps come to hold `mark` or `ls` in all manner of
 * ways, and something of that is run in the end.
 */

export function makeText(random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const word = () => pick(['ls', 'mark'])
  const name = () => pick(['x', 'x', 'y'])

  const simple: (() => string)[] = [
    () => `${name()}=${word()}`,
    () => pick(['y=$x', 'x=$y', 'x="${y}"', 'x=$a', 'x=$*', 'x=$?', 'x=~+', 'x=${#x}', 'x+=']),
    () => `x=\${y:-${word()}}`,
    () => `x=\${x+${word()}}`,
    () => `: \${x:=${word()}}`,
    () => `unset ${name()}`,
    () => `${pick(['declare', 'declare -g', 'export', 'typeset', 'local', 'readonly'])} ${name()}=${word()}`,
    () => pick(['readonly x', 'readonly y', 'declare x', 'typeset x', 'declare -i y', 'export -n x']),
    () => `set -- ${word()} ${word()}`,
    () => pick(['x=$1', 'x=$2', 'x="$@"', 'x=${*:1:1}', 'x=${@:2}', 'set -- "$x" "$@"']),
    () => pick(['shift', 'shift 2', 'return', 'break', 'continue', 'exit', 'false', 'true', ':']),
    () => pick(['f', 'g', `f ${word()}`, 'unset -f f']),
    () => `a=(${word()} ${word()})`,
    () => pick([`a+=(${word()})`, `a[1]=${word()}`, `x[0]=${word()}`, "unset 'x[0]'", "unset 'a[0]'"]),
    () => pick(['x=${a[1]}', 'x=${a[@]:1:1}', 'x=(${x}); x=${x[0]}', 'a[-9]=1']),
    () => pick([`x=\${x/ls/${word()}}`, 'x=${x#l}', 'x=${x%s}', 'x=${x,,}', 'x=${x:0:4}']),
    () =>
      pick([`eval 'x=${word()}'`, 'eval "x=$y"', `x=${word()} eval :`, `x=${word()} true`, `x=${word()} f`]),
    () => pick([`x=$(echo ${word()})`, 'x=$(echo $y)', `x=\`printf ${word()}\``, `printf -v x ${word()}`]),
    () =>
      pick([`read x <<< ${word()}`, `read <<< ${word()}; x=$REPLY`, `read -r x y <<< "${word()} ${word()}"`]),
    () => pick(['y=x; x=${!y}', `x=y; y=${word()}; x=\${!x}`, ': ${!nope}']),
    () => pick([': $((1/0))', ': $((x))', 'y=$((1+1))', 'IFS=m', 'x={mark,ls}', '[ "$x" = ls ]', '[[ $x ]]']),
    () => `trap '${pick(['$x', 'f', `x=${word()}`])}' ${pick(['EXIT', 'DEBUG', 'ERR', 'RETURN'])}`,
  ]

  const statement = (depth: number): string => {
    if (depth <= 0 || random() < 0.5) return pick(simple)()
    const inner = () => statement(depth - 1)
    return pick([
      () => `{ ${inner()}; }`,
      () => `{ ${inner()}; } </nope`,
      () => `( ${inner()} )`,
      () => `if ${inner()}; then ${inner()}; else ${inner()}; fi`,
      () => `if true; then ${inner()}; fi`,
      () => `for ${name()} in ${word()} ${word()}; do ${inner()}; done`,
      () => `for x; do ${inner()}; done`,
      () => `for i in 1 2; do ${inner()}; ${inner()}; done`,
      () => `while ${inner()}; do ${inner()}; break; done`,
      () => `until ${inner()}; do ${inner()}; break; done`,
      () => `${inner()} && ${inner()}`,
      () => `${inner()} || ${inner()}`,
      () => `${inner()} | ${inner()}`,
      () => `${inner()} &`,
      () => `! ${inner()}`,
      () => `f() { ${inner()}; ${inner()}; }`,
      () => `g() { ${inner()}; ${inner()}; }`,
      () => `case $x in ls) ${inner()};; *) ${inner()};; esac`,
      () => `case $x in ls) ${inner()};& *) ${inner()};; esac`,
      () => `bash -c '${inner().replaceAll("'", "'\\''")}; $x' _ ${word()}`,
    ])()
  }

  const parts = Array.from({ length: 2 + Math.floor(random() * 4) }, () => statement(2))
  parts.push(pick(['$x', '"$x" ls', '$x ls', '"$@"', '"${a[@]}"', 'f', '$y']))
  return parts.join(pick(['; ', '\n'])).replaceAll('&;', '&')
}
